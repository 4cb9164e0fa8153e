package machine

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gcity/automation"
	"gcity/city"
	"gcity/city/verb"
	"gcity/controller/effect"
	"gcity/events"
	"gcity/session"
)

var update = flag.Bool("update", false, "rewrite the outcomes of the stories")

// TestStories plays testdata/*.txt. Lines that start with ">" are the expected results of the line before them.
func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no stories", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, breach := play(t, string(data))
			for _, b := range breach {
				t.Error(b)
			}
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != string(data) {
				t.Errorf("the outcome differs; run with -update and read the difference:"+
					"\n%s", got)
			}
		})
	}
}

func play(t *testing.T, text string) (string, []string) {
	w := newWorld()
	var out strings.Builder
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if strings.HasPrefix(line, ">") {
			continue
		}
		out.WriteString(line + "\n")
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		from := len(w.log)
		if err := w.tell(words); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		w.hand()
		for _, l := range w.log[from:] {
			out.WriteString("> " + l + "\n")
		}
	}
	return out.String(), w.breach
}

func (w *world) tell(words []string) error {
	verb, args := words[0], words[1:]
	arg := func(i int) string {
		if i < len(args) {
			return args[i]
		}
		return ""
	}
	switch verb {
	case "declare":
		w.declare(args...)
	case "advance":
		d, err := time.ParseDuration(arg(0))
		if err != nil {
			return err
		}
		w.advance(d)
	case "exit":
		code, err := strconv.Atoi(arg(1))
		if err != nil {
			return err
		}
		w.die(arg(0), code, "")
	case "signal":
		w.die(arg(0), -1, arg(1))
	case "stops": // the agent's session ends as requested, which its provider reports
		w.exit(arg(0), session.Exit{Code: -1, Signal: "SIGINT", Asked: true})
	case "vanish":
		delete(w.alive, arg(0))
	case "unready": // the agent's session is not ready yet
		w.alive[arg(0)].Ready = false
	case "silent":
		w.lost = arg(0) == "on"
	case "fail":
		w.fails[arg(0)] = strings.Join(args[1:], " ")
	case "miss": // something that the agent's start needs is missing
		w.fails["missing "+arg(0)] = strings.Join(args[1:], " ")
	case "exhaust": // a resource that the agent's start needs is exhausted
		w.fails["exhausted "+arg(0)] = strings.Join(args[1:], " ")
	case "unable": // a provider cannot run anything, with the reason
		w.fails["by "+arg(0)] = strings.Join(args[1:], " ")
	case "unstoppable": // stops of the agent fail with this reason; without a reason they succeed again
		w.fails["stop "+arg(0)] = strings.Join(args[1:], " ")
	case "unmarkable": // the provider of the agent's session does not support marks
		w.fails["mark "+arg(0)] = "not supported"
	case "markless": // marking the agent's session fails with this reason; without one, it succeeds again
		w.fails["marking "+arg(0)] = strings.Join(args[1:], " ")
	case "launched": // the session of the agent's start exists, but is not ready yet
		w.Step(effect.StartProgress{Agent: arg(0), Status: session.Status{Name: "gc-app-" + arg(0),
			Agent: arg(0), ID: "launched-" + arg(0), Alive: true}})
	case "stick":
		w.stuck[arg(0)] = true
	case "unstick":
		delete(w.stuck, arg(0))
		w.Step(effect.Wake{})
	case "attach":
		w.alive[arg(0)].Attached = 1
	case "detach":
		w.alive[arg(0)].Attached, w.alive[arg(0)].TypedAt = 0, w.now
	case "write":
		w.write(args...)
	case "restore": // restores the file of the configuration in force
		w.current = w.m.conf
		w.Step(effect.ConfigChanged{})
	case "break":
		w.broken = strings.Join(args, " ")
		w.Step(effect.ConfigChanged{})
	case "refuse": // the configuration is invalid for a reason outside its files; without a reason, it is valid again
		w.refused = strings.Join(args, " ")
	case "moved": // the city's folder is not at its path, for this reason; without a reason, it is back
		w.away = strings.Join(args, " ")
	case "blind":
		w.blind = strings.Join(args, " ")
	case "dark": // a provider cannot list its sessions, with the reason
		w.dark = map[string]error{}
		if len(args) > 0 {
			w.dark[args[0]] = errors.New(strings.Join(args[1:], " "))
		}
	case "degraded":
		w.log = append(w.log, w.m.Snapshot(w.now).Degraded...)
	case "takes": // NAME, CPU time, resident bytes, processes
		w.m.gauge.able = true
		if w.uses == nil {
			w.uses = map[string]session.Usage{}
		}
		var u session.Usage
		var err error
		if u.CPU, err = time.ParseDuration(arg(1)); err == nil {
			_, err = fmt.Sscan(arg(2)+" "+arg(3), &u.RSS, &u.Procs)
		}
		w.uses[arg(0)] = u
		return err
	case "forget":
		delete(w.uses, arg(0))
	case "watch":
		w.Step(effect.SnapshotsWatched{})
	case "usage":
		for _, a := range w.m.Snapshot(w.now).Agents {
			if a.Usage != nil {
				w.log = append(w.log, fmt.Sprintf("%s takes %v %% of a processor, %d bytes, "+
					"%d processes", a.Name, a.Usage.CPU, a.Usage.RSS, a.Usage.Procs))
			}
		}
	case "history":
		w.onDisk = arg(0) == "disk"
	case "successor":
		w.succeed(args...)
	case "shutdown":
		w.Step(effect.Shutdown{Leave: arg(0) == "leave"})
	case "log": // the log cannot be written, or works again
		if w.full = arg(0) == "full"; !w.full {
			w.logWorks()
		}
	case "kept": // shows the exits that the providers still report or that are saved in files
		w.log = append(w.log, fmt.Sprintf("reported %v, saved %v",
			slices.Sorted(maps.Keys(w.dead)), slices.Sorted(maps.Keys(w.ends))))
	case "hurry":
		w.Step(effect.Hurry{})
	case "asks": // the agent prints a question, about something if it is named
		w.print(arg(0))
		w.asking[arg(0)] = strings.Join(args[1:], " ")
	case "answered": // the agent prints something else
		w.print(arg(0))
	case "questions":
		for _, a := range w.m.Snapshot(w.now).Agents {
			if q := a.Asks; q != nil {
				w.note("%s asks since %s about %q", a.Name, q.Since.Sub(w.begun), q.About)
			}
		}
	case "draft": // a viewer types a draft; with "off", a viewer deletes it
		w.draft(arg(0), arg(1) != "off")
	case "sends":
		w.log = append(w.log, w.showSends()...)
	case "prints":
		w.alive[arg(0)].Output += 10
	case "check":
		w.says[arg(0)] = strings.Join(args[1:], " ")
	case "automation":
		return w.automate(args)
	case "remove":
		w.found(arg(0), nil, nil)
	case "spoil":
		w.found(arg(0), nil, unusable(arg(0)))
	case "sleep": // the computer is suspended, or the clock is set forward
		d, err := time.ParseDuration(arg(0))
		if err != nil {
			return err
		}
		w.sleep(d)
	case "late": // withholds the results of one kind of effect
		w.floor.trials.late[arg(0)] = true
	case "lag": // events are delivered but not handled
		w.floor.trials.lag = arg(0) == "on"
	case "arrive": // releases the withheld results
		clear(w.floor.trials.late)
		for len(w.floor.trials.slow) > 0 {
			w.release(0)
		}
	case "deaf":
		w.deafen(strings.Join(args, " "))
	case "unshut":
		w.floor.trials.unshut = strings.Join(args, " ")
	case "forgetful":
		w.floor.trials.unkept = strings.Join(args, " ")
	case "condition":
		w.floor.answer[arg(0)], _ = strconv.Atoi(arg(1))
	case "ends":
		code, _ := strconv.Atoi(arg(1))
		w.finish(arg(0), code)
	case "emit":
		w.emit(arg(0))
	case "abandon": // the client of the command with this ID stops waiting
		id, _ := strconv.ParseUint(arg(0), 10, 64)
		w.Step(effect.CommandAbandoned{ID: id})
	case "norecord":
		w.floor.refuse = strings.Join(args, " ")
	case "store": // the store fails until its circuit breaker opens; without arguments, it works again
		for w.floor.dead = strings.Join(args, " "); w.floor.dead != "" && !w.floor.store.Open(); {
			w.called(false)
		}
	case "automations":
		w.log = append(w.log, w.showAutomations()...)
	case "works": // the agent starts work on a bead, or stops working if no bead is named
		if w.floor.hands == nil {
			w.floor.hands = map[string]string{}
		}
		if delete(w.floor.hands, arg(0)); arg(1) != "" {
			w.floor.hands[arg(0)] = arg(1)
		}
	case "gate": // the agent's work waits for this gate, or for none if no gate is named
		w.floor.gates = map[string]string{}
		if arg(1) != "" {
			w.floor.gates[arg(0)] = strings.Join(args[1:], " ")
		}
	case "scaled-aside": // a size that was set while the city had no controller
		n, err := strconv.Atoi(arg(1))
		w.overrides[arg(0)] = n
		return err
	case "stranded":
		w.log = append(w.log, w.m.Snapshot(w.now).StrandedLines()...)
	case "asked":
		w.note("%d checks were run", w.asked)
		w.asked = 0
	case "settle": // one-shot mode, with agents already running
		w.m = newMachine()
		w.m.oneShot = true
		w.begin()
	case "active":
		w.alive[arg(0)].Activity = w.now
	case "watchdog":
		return w.keep(args)
	case "heartbeat":
		return w.beats(arg(0), args[1:])
	case "unread": // number of unread messages
		_, err := fmt.Sscan(arg(1), new(int))
		w.watchdogs.letter[arg(0)], _ = strconv.Atoi(arg(1))
		return err
	case "unposted": // mail cannot be sent, for this reason
		w.watchdogs.refuse = strings.Join(args, " ")
	case "tiers":
		w.log = append(w.log, w.showTiers()...)
	case "looks":
		w.note("%d looks at heartbeats", w.watchdogs.looks)
		w.watchdogs.looks = 0
	case "stuck":
		for _, a := range w.m.Snapshot(w.now).Agents {
			if a.Stuck != nil {
				w.note("%s is stuck with %s since %s", a.Name, a.Stuck.Task,
					a.Stuck.Since.Sub(w.begun))
			}
		}
	case "stall":
		w.Step(effect.Stalled{})
	case "decide":
		w.command(uint64(len(w.log)+1), tierDecide(args))
	case "thaw":
		w.alive[arg(0)].Frozen = false
	case "mute": // sessions accept no text, for this reason
		w.delivery.mute = strings.Join(args, " ")
	case "silence": // the holder of an agent does not respond
		w.alive[arg(0)].Silent, w.alive[arg(0)].Reason = w.now, strings.Join(args[1:], " ")
	case "unsilence":
		w.alive[arg(0)].Silent, w.alive[arg(0)].Reason = time.Time{}, ""
	case "freeze":
		w.alive[arg(0)].Frozen = true
	case "pools":
		w.log = append(w.log, w.showPools()...)
	case "marks":
		w.note("%s is marked: %s", arg(0), drainText(w.alive[arg(0)].Drain))
	case "next": // shows the agent's next change
		if next := w.m.nextFor(w.m.agents[arg(0)]); next != nil {
			w.log = append(w.log, fmt.Sprintf("%s (known when: %v)", next.What, next.At != nil))
		}
	case "refusal": // shows what the snapshot says about a restart of the agent
		a, _ := w.m.Snapshot(w.now).Agent(arg(0))
		w.log = append(w.log, fmt.Sprintf("%q (surplus: %v)", a.NoRestart, a.Surplus))
	case "show":
		w.log = append(w.log, w.show()...)
	default:
		return w.order(verb, args)
	}
	return nil
}

// succeed replaces the controller, as after a hand-over or a SIGKILL. Effects in stuck never finish.
func (w *world) succeed(stuck ...string) {
	before := w.m
	w.m = newMachine()
	saved := w.memory
	if before.leftRunning {
		content, _, err := before.LastMemory()
		if err != nil {
			w.breach = append(w.breach, err.Error())
		}
		saved, w.m.histories.fromFile.HandedOver = content, content != nil
		w.memory = content
	}
	if saved != nil {
		if err := json.Unmarshal(saved, &w.m.histories.fromFile.Agents); err != nil {
			w.breach = append(w.breach, "the file of crash histories: "+err.Error())
		}
	}
	if !w.current.OnDisk && !before.leftRunning {
		w.m.histories.fromFile = w.m.histories.fromFile.WithoutCrashes()
	}
	if w.floor.memory != nil {
		var deeds map[string]automation.Memory
		if err := json.Unmarshal(w.floor.memory, &deeds); err != nil {
			w.breach = append(w.breach, "the file of automation state: "+err.Error())
		}
		w.m.runs.Inherited = deeds
	}
	w.forgiven(w.m.runs.Inherited)
	drafts := w.delivery.drafts
	w.delivery = newTextDelivery() // queued texts are lost with the controller
	w.delivery.drafts = drafts
	clear(w.floor.going)
	w.queued = nil
	kept := w.quarantines(before)
	w.begin(stuck...)
	for name, until := range kept {
		if a := w.m.agents[name]; a.state != city.Quarantined || a.until.Before(until) {
			w.breach = append(w.breach, fmt.Sprintf("L6: the next controller lost the "+
				"quarantine of %s until %s: its state is %s", name, until, a.state))
		}
	}
}

func (w *world) begin(stuck ...string) {
	w.pending, w.stuck = nil, map[string]bool{}
	for _, key := range stuck {
		w.stuck[key] = true
	}
	w.m.Step(w.now, effect.Loaded{Revision: w.current.Revision, Conf: w.current})
	w.Step(effect.Tick{})
}

func (w *world) quarantines(before *Machine) map[string]time.Time {
	out := map[string]time.Time{}
	if before.conf == nil || !before.conf.OnDisk || !w.current.OnDisk || w.blind != "" {
		return out
	}
	saved := w.histories(w.memory)
	for _, want := range w.current.Wants {
		a := before.agents[want.Name]
		same := a != nil && a.want != nil && a.want.Spec.Fingerprint.Sum ==
			want.Spec.Fingerprint.Sum
		if same && a.act.queued == 0 && a.restart.kind == quarantined && !a.phase.Alive() &&
			w.now.Before(a.restart.until) && !want.Suspended.On() && w.alive[want.Name] == nil &&
			w.survives(a, saved[want.Name]) {
			out[want.Name] = a.restart.until
		}
	}
	return out
}

// survives reports whether the next controller knows enough to continue the quarantine: the quarantine itself, or all
// crashes before the last one. The provider still reports the last one.
func (w *world) survives(a *record, saved effect.SavedAgent) bool {
	if saved.State == city.Quarantined {
		return saved.Until.Equal(a.restart.until)
	}
	last := ""
	for _, e := range w.events {
		if e.Subject == a.name && (e.Type == events.AgentCrashed ||
			e.Type == events.AgentStartFailed) {
			last = e.Type
		}
	}
	return last == events.AgentCrashed && saved.State == "" &&
		len(saved.Crashes) >= a.restart.hold.crashes-1 &&
		saved.Fingerprint == a.want.Spec.Fingerprint.Sum
}

// print lets the agent print something.
func (w *world) print(agent string) {
	s := w.alive[agent]
	s.Output, s.Activity = s.Output+10, w.now
	delete(w.asking, agent)
}

func (w *world) order(name string, args []string) error {
	target, body := "", ""
	if len(args) > 0 {
		target = args[0]
	}
	if target == "city" {
		target = ""
	}
	switch name {
	case "drain-final":
		name, body = "drain", `{"final":true}`
	case "drain-host":
		text, _ := json.Marshal(strings.Join(args[1:], " ")) // cannot fail for a string
		name, body = "drain", fmt.Sprintf(`{"why":%s}`, text)
	case "kill-force":
		name, body = "kill", `{"force":true}`
	case "fire":
		name = "run"
	case "halt":
		name = "end-run"
	case "nudge", "nudge-now":
		text, _ := json.Marshal(cmp.Or(strings.ReplaceAll(strings.Join(args[1:], " "), "\\n",
			"\n"), "hello"))
		body = fmt.Sprintf(`{"text":%s,"now":%t}`, text, name == "nudge-now")
		name = "nudge"
	case "nudge-depth": // a nudge by an automation's run
		name, body = "nudge", fmt.Sprintf(`{"text":"hello","depth":%s}`, args[1])
	case "unsend":
		body = fmt.Sprintf(`{"id":%s}`, strings.Join(args[1:], "")+
			map[bool]string{true: "0"}[len(args) == 1])
	case "scale":
		body = fmt.Sprintf(`{"size":%s}`, args[1])
		if args[1] == "auto" {
			body = `{"auto":true}`
		}
	case "rolling":
		name, body = "restart-pool", `{"rolling":true}`
	case "confirm":
		name, body = "reload", `{"confirm":true}`
	case "shutdown":
		body = "{}"
	}
	c, err := verb.Decode(name, target, []byte(body))
	if err != nil {
		return fmt.Errorf("invalid line in a story: %w", err)
	}
	w.command(uint64(len(w.log)+1), c)
	return nil
}
