package gascity

import (
	"context"
	"iter"
	"time"

	"gcity/city"
)

const (
	outputEvery = 500 * time.Millisecond
	outputLines = 100
)

// Output contains the last lines of an agent's output.
type Output struct {
	Agent  string `json:"agent"`
	Format string `json:"format"` // "text"
	Turns  []Turn `json:"turns"`
}

// Peek contains the last lines of an agent's output in a single string.
type Peek struct {
	Output string `json:"output"`
}

// Turn is text with a role, such as "output".
type Turn struct {
	Role string `json:"role"`
	Text string `json:"text"`
}

// OutputOf returns the response that contains an agent's last lines.
func OutputOf(name, text string) Output {
	return Output{Agent: name, Format: "text", Turns: []Turn{{Role: "output", Text: text}}}
}

// Outputs yields an agent's last lines, first immediately and then after each change.
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
