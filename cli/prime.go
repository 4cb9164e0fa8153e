package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gcity/agent"
	"gcity/city"
	"gcity/cli/output"
	"gcity/mail"
)

// primeLimit bounds how long an agent waits for its prompt.
const primeLimit = 20 * time.Second

// primeShape is a prompt and whose it is.
type primeShape struct {
	Agent  string `json:"agent,omitempty"` // "" = of nobody in particular
	File   string `json:"file,omitempty"`  // the template
	Prompt string `json:"prompt"`

	Handed []mail.Message `json:"handed,omitempty"` // what the session before has left, not read yet, the newest first
}

func (a *app) primeCommand() *cobra.Command {
	var hook bool
	c := &cobra.Command{
		Use: "prime [AGENT]", Short: "What an agent is told at its start", Args: between(0, 1),
		Long: `prime writes an agent's prompt as it would be told now: its template, filled in.
Without a name it is that of the agent that asks, by GC_AGENT, and behind it stands
what the session before has left with gc handoff, until it is read. An agent without
a prompt, and whoever is no agent, is told how to find its way.

--hook is for hook files of agents: nothing that goes wrong is a failure then.`,
		Example:           "  gc prime\n  gcity prime worker",
		ValidArgsFunction: a.complete(kindAgent),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), primeLimit)
			defer cancel()
			p, err := a.prime(ctx, args)
			if err != nil && hook {
				fmt.Fprintln(a.Err, "gcity: "+output.SafeText(err.Error()))
				return nil
			}
			if err != nil {
				return err
			}
			if p.Agent != "" && (len(args) == 0 || args[0] == "") {
				if p.Handed, err = a.leftFor(ctx, p.Agent); err != nil {
					fmt.Fprintln(a.Err, "gcity: what the session before has left cannot be read: "+output.SafeText(err.Error()))
				}
			}
			if a.JSON {
				return a.WriteJSON(p)
			}
			a.Sayf("%s", a.shown(strings.TrimRight(p.Prompt, "\n")))
			if text := mail.Left(p.Handed); text != "" {
				a.Sayf("\n%s", a.shown(strings.TrimRight(text, "\n")))
			}
			return nil
		},
	}
	c.Flags().BoolVar(&hook, "hook", false, "from a hook file: never fail")
	return c
}

// prime finds the prompt of the agent that is named, or asks.
func (a *app) prime(ctx context.Context, args []string) (primeShape, error) {
	name, named := a.Getenv("GC_AGENT"), len(args) > 0 && args[0] != ""
	if named {
		name = args[0]
	}
	dir, err := a.cityDir()
	if err != nil && named {
		return primeShape{}, err
	}
	if err != nil || name == "" {
		return primeShape{Prompt: generic(dir)}, nil
	}
	c, err := loadCity(dir)
	if err != nil {
		return a.primedBefore(ctx, dir, name, err)
	}
	w, err := wantOf(plan(c, dir), name)
	switch {
	case err != nil && named:
		return primeShape{}, err
	case err != nil: // it asks, so it runs: it is declared no more
		return primeShape{Prompt: generic(dir)}, nil
	}
	text, err := promptOf(ctx, w)
	if err != nil {
		return primeShape{}, err
	}
	if strings.TrimSpace(text) == "" {
		text = unprompted(w)
	}
	return primeShape{Agent: w.Name, File: w.Prompt.File, Prompt: text}, nil
}

// primedBefore asks the controller while the configuration on the disk is refused: the old one is in force there.
func (a *app) primedBefore(ctx context.Context, dir, name string, refused error) (primeShape, error) {
	near, closeNear, err := a.dial(dir)
	if err != nil {
		return primeShape{}, refused
	}
	defer closeNear()
	g, err := findAgent(ctx, near, name)
	if err != nil {
		return primeShape{}, errors.Join(refused, err)
	}
	about, err := near.Inspect(ctx, g.Name)
	if err != nil || about.Prompt == "" {
		return primeShape{}, refused
	}
	return primeShape{Agent: g.Name, File: about.PromptFile, Prompt: about.Prompt}, nil
}

// wantOf finds an agent by its qualified name, or the last part of it if only one has that.
func wantOf(wants []agent.Want, name string) (*agent.Want, error) {
	var same []string
	var found *agent.Want
	for i := range wants {
		switch w := &wants[i]; {
		case w.Name == name:
			return w, nil
		case strings.HasSuffix(w.Name, "/"+name):
			same, found = append(same, w.Name), w
		}
	}
	switch len(same) {
	case 1:
		return found, nil
	case 0:
		s := &city.Snapshot{}
		for i := range wants {
			s.Agents = append(s.Agents, city.Agent{Name: wants[i].Name})
		}
		return nil, unknown(s, name, []kind{kindAgent})
	}
	return nil, &city.Error{Code: city.Invalid, Message: fmt.Sprintf("%q is one of %s: say which", name, strings.Join(same, ", "))}
}

// ways are the commands that every agent has.
const ways = `  gc hook                    your work: what you have begun, and what you may begin
  gc bead show ID            one piece of it, with all that is known
  gc bead update ID --claim  take it before you begin: if that is refused, somebody else
                             was quicker, and it is theirs
  gc bead close ID           when it is done
  gc agent drain-check       exit 0: you have been told to finish; then end with gc agent drain-ack
  gc --help                  everything else`

// unprompted is what an agent without a prompt is told.
func unprompted(w *agent.Want) string {
	return fmt.Sprintf("You are the agent %s of a city of agents. Your folder is %s.\nNobody has written down what you are for. What you can do:\n\n%s", w.Name, w.Spec.Dir, ways)
}

// generic is what whoever is no agent is told.
func generic(dir string) string {
	if dir == "" {
		return "This is not a city, and no folder above it is one: gcity init makes one, --city DIR names one.\nAgents of a city have:\n\n" + ways
	}
	return fmt.Sprintf("This is the city in %s. You are none of its agents: gc prime AGENT says what one of them is told,\ngc status who there is. Agents have:\n\n%s", dir, ways)
}
