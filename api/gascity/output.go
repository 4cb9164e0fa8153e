package gascity

import (
	"context"
	"iter"
	"time"

	"gcity/city"
)

const (
	// how often an agent's output is compared; a reader reads no faster
	outputEvery = 500 * time.Millisecond
	// that an item has, unless the client asks for another number
	outputLines = 100
)

// Output is the last lines of an agent.
type Output struct {
	Agent  string `json:"agent"`
	Format string `json:"format"` // "text"
	Turns  []turn `json:"turns"`
}

// Peek is the same as one text.
type Peek struct {
	Output string `json:"output"`
}

type turn struct {
	Role string `json:"role"`
	Text string `json:"text"`
}

// OutputOf gives the last lines of an agent the shape of an answer.
func OutputOf(name, text string) Output {
	return Output{Agent: name, Format: "text", Turns: []turn{{Role: "output", Text: text}}}
}

// Outputs yields the last lines of an agent whenever they changed.
func Outputs(ctx context.Context, c city.Control, name string, lines int) iter.Seq2[Output, error] {
	return func(yield func(Output, error) bool) {
		if lines == 0 {
			lines = outputLines
		}
		tick := time.NewTicker(outputEvery)
		defer tick.Stop()
		for last, first := "", true; ; first = false {
			text, err := c.Output(ctx, name, lines)
			if err != nil {
				yield(Output{}, err)
				return
			}
			if (first || text != last) && !yield(OutputOf(name, text), nil) {
				return
			}
			last = text
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}
}
