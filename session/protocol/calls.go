package protocol

import (
	"cmp"
	"context"
	"errors"
	"time"

	"gcity/session"
)

type call func(ctx context.Context, p session.Provider, t *Target) (Response, error)

type part[T any] func(ctx context.Context, p T, t *Target) (Response, error)

// orElse returns a call that fails with err if the provider does not implement T.
func (do part[T]) orElse(err error) call {
	return func(ctx context.Context, p session.Provider, t *Target) (Response, error) {
		if q, ok := p.(T); ok {
			return do(ctx, q, t)
		}
		return Response{}, err
	}
}

func (do part[T]) orLack(a session.Ability) call {
	return do.orElse(&session.LackError{Ability: a})
}

func calls() map[string]call {
	return map[string]call{
		"interrupt":   callInterrupt,
		"stop":        callStop,
		"list":        callList,
		"send":        callSend,
		"output":      callOutput,
		"look":        part[session.Looker](callLook).orElse(session.ErrUnsupported),
		"keys":        part[session.Keyer](callKeys).orLack(session.SendingKeys),
		"mark":        part[session.Marker](callMark).orLack(session.Marking),
		"meta":        part[session.Marker](callMeta).orLack(session.Marking),
		"usage":       part[session.Meter](callUsage).orLack(session.Measuring),
		"clear":       part[session.Clearer](callClear).orLack(session.Clearing),
		"capture":     part[session.Capturer](callCapture).orLack(session.Capturing),
		"check":       part[session.Checker](callCheck).orElse(nil),
		"dismiss":     part[session.Dismisser](callDismiss).orElse(nil),
		"acknowledge": part[session.Acknowledger](callAcknowledge).orElse(nil),
	}
}

func callInterrupt(ctx context.Context, p session.Provider, t *Target) (Response, error) {
	return Response{}, p.Interrupt(ctx, t.Name)
}

func callStop(ctx context.Context, p session.Provider, t *Target) (Response, error) {
	return Response{}, p.Stop(session.WithForce(ctx, t.Force), t.Name, time.Duration(t.Grace))
}

func callOutput(ctx context.Context, p session.Provider, t *Target) (Response, error) {
	text, err := p.Output(ctx, t.Name, t.Lines)
	return Response{Text: text}, err
}

func callLook(ctx context.Context, p session.Looker, t *Target) (Response, error) {
	st, err := p.Look(ctx, t.Name)
	return Response{Session: &st}, err
}

func callKeys(ctx context.Context, p session.Keyer, t *Target) (Response, error) {
	return Response{}, p.SendKeys(ctx, t.Name, t.Keys...)
}

func callMark(ctx context.Context, p session.Marker, t *Target) (Response, error) {
	return Response{}, p.SetMeta(ctx, t.Name, t.Key, t.Value)
}

func callMeta(ctx context.Context, p session.Marker, t *Target) (Response, error) {
	value, err := p.Meta(ctx, t.Name, t.Key)
	return Response{Text: value}, err
}

func callUsage(ctx context.Context, p session.Meter, _ *Target) (Response, error) {
	all, err := p.Usage(ctx)
	return Response{Usage: all}, err
}

func callClear(ctx context.Context, p session.Clearer, t *Target) (Response, error) {
	return Response{}, p.Clear(ctx, t.Name)
}

func callCapture(ctx context.Context, p session.Capturer, t *Target) (Response, error) {
	data, err := p.Capture(ctx, t.Name, t.ID)
	return Response{Data: data}, err
}

func callCheck(ctx context.Context, p session.Checker, _ *Target) (Response, error) {
	return Response{}, p.Check(ctx)
}

func callDismiss(ctx context.Context, p session.Dismisser, _ *Target) (Response, error) {
	return Response{}, p.Dismiss(ctx)
}

func callAcknowledge(ctx context.Context, p session.Acknowledger, t *Target) (Response, error) {
	return Response{}, p.Acknowledge(ctx, t.Name, t.ID)
}

func callSend(ctx context.Context, p session.Provider, t *Target) (Response, error) {
	if t.Quiet == nil {
		return Response{}, p.Send(ctx, t.Name, t.Text)
	}
	polite, ok := p.(session.PoliteSender)
	if !ok {
		return Response{}, &session.LackError{Ability: session.SeeingDrafts}
	}
	return Response{}, polite.SendPolitely(ctx, t.Name, t.Text, time.Duration(*t.Quiet))
}

func callList(ctx context.Context, p session.Provider, _ *Target) (Response, error) {
	all, err := p.List(ctx)
	out := Response{Sessions: all}
	if partial, ok := errors.AsType[*session.PartialError](err); ok {
		out.Unknown = map[string]string{}
		for name, why := range partial.Unknown {
			out.Unknown[cmp.Or(name, "the rest")] = why.Error()
		}
		err = nil
	}
	return out, err
}
