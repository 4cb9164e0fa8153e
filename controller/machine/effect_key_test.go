package machine

import (
	"fmt"

	"gcity/controller/effect"
)

// keyOf returns the key of an effect that runs outside the loop. At most one effect with the same key is in flight at
// a time (L1). It returns "" for all other effects.
func keyOf(f effect.Effect) string {
	switch f := f.(type) {
	case effect.Start:
		return "agent:" + f.Want.Name
	case effect.Resume:
		return "agent:" + f.Want.Name
	case effect.Stop:
		return "agent:" + f.Agent
	case effect.CheckProvider:
		return "vet:" + f.Provider
	case effect.CheckStart:
		return "start-check:" + f.Want.Name
	case effect.Kill:
		return "kill:" + f.Agent
	case effect.Capture:
		return "capture:" + f.Agent + ":" + f.ID
	case effect.Acknowledge:
		return "ack:" + f.Agent + ":" + f.ID
	case effect.Type:
		return "type:" + f.Agent
	// the same key as Type, so that messages and pressed keys stay in order
	case effect.Send:
		return "type:" + f.Agent
	case effect.ReadScreen:
		return "screen:" + f.Agent
	case effect.List:
		return "list"
	case effect.Load:
		return "load"
	case effect.Edit:
		return "edit"
	case effect.Scan:
		return "scan"
	case effect.CloseUnclosedRuns:
		return "strays"
	case effect.SweepRuns:
		return "sweep"
	case effect.CheckCondition:
		return "condition:" + f.Of.Scoped()
	case effect.OpenRun:
		return "run:" + f.Run.Definition.Scoped()
	case effect.Run:
		return "run:" + f.Run.Definition.Scoped()
	case effect.CloseRun:
		return "shut:" + f.Run.ID
	case effect.SaveAutomations:
		return "memorise"
	case effect.CountWork:
		return "count"
	case effect.ReturnWork:
		return "return"
	case effect.ProbeStores:
		return "probe"
	case effect.Purge:
		return "purge"
	case effect.BackUp:
		return "backup"
	case effect.CheckPool:
		return "check:" + f.Pool.Name
	case effect.MarkDrain:
		return "mark:" + f.Agent
	case effect.Scale:
		return "scale"
	case effect.Measure:
		return "measure"
	case effect.SaveHistories:
		return "remember"
	case effect.ReadHeartbeat:
		return "heartbeat:" + f.Tier
	case effect.Escalate:
		return "escalate:" + f.Tier
	case effect.Cancel, effect.Subscribe, effect.CancelRun, effect.CancelRuns, effect.ChangeBead, effect.Record,
		effect.Listen, effect.Emit, effect.SendReply:
		return ""
	}
	panic(fmt.Sprintf("no key for %T", f))
}
