package work

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gcity/agent"
	"gcity/cli/env"
	"gcity/cli/folder"
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

	// what the session before has left, not read yet, the newest first
	Handed []mail.Message `json:"handed,omitempty"`
}

// PrimeCommand returns the command prime.
func PrimeCommand(e *env.Env) *cobra.Command {
	var hook bool
	c := &cobra.Command{
		Use: "prime [AGENT]", Short: "What an agent is told at its start", Args: env.Between(0, 1),
		Long: `prime writes an agent's prompt as it would be told now: its template, filled in.
Without a name it is that of the agent that asks, by GC_AGENT, and behind it stands
what the session before has left with gc handoff, until it is read. An agent without
a prompt, and whoever is no agent, is told how to find its way.

--hook is for hook files of agents: nothing that goes wrong is a failure then.`,
		Example:           "  gc prime\n  gcity prime worker",
		ValidArgsFunction: env.Complete(e, env.KindAgent),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), primeLimit)
			defer cancel()
			p, err := prime(ctx, e, args)
			if err != nil && hook {
				fmt.Fprintln(e.Err, "gcity: "+output.SafeText(err.Error()))
				return nil
			}
			if err != nil {
				return err
			}
			if p.Agent != "" && (len(args) == 0 || args[0] == "") {
				if p.Handed, err = leftFor(ctx, e, p.Agent); err != nil {
					fmt.Fprintln(e.Err, "gcity: what the session before has left cannot be read: "+
						output.SafeText(err.Error()))
				}
			}
			if e.JSON {
				return e.WriteJSON(p)
			}
			e.Sayf("%s", shown(e, strings.TrimRight(p.Prompt, "\n")))
			if text := mail.Left(p.Handed); text != "" {
				e.Sayf("\n%s", shown(e, strings.TrimRight(text, "\n")))
			}
			return nil
		},
	}
	c.Flags().BoolVar(&hook, "hook", false, "from a hook file: never fail")
	return c
}

// prime finds the prompt of the agent that is named, or asks.
func prime(ctx context.Context, e *env.Env, args []string) (primeShape, error) {
	name, named := e.Getenv("GC_AGENT"), len(args) > 0 && args[0] != ""
	if named {
		name = args[0]
	}
	dir, err := e.CityDir()
	if err != nil && named {
		return primeShape{}, err
	}
	if err != nil || name == "" {
		return primeShape{Prompt: generic(dir)}, nil
	}
	c, err := folder.LoadCity(dir)
	if err != nil {
		return primedBefore(ctx, e, dir, name, err)
	}
	w, err := env.WantOf(folder.Plan(c, dir), name)
	switch {
	case err != nil && named:
		return primeShape{}, err
	case err != nil: // it asks, so it runs: it is declared no more
		return primeShape{Prompt: generic(dir)}, nil
	}
	text, err := folder.PromptOf(ctx, w)
	if err != nil {
		return primeShape{}, err
	}
	if strings.TrimSpace(text) == "" {
		text = unprompted(w)
	}
	return primeShape{Agent: w.Name, File: w.Prompt.File, Prompt: text}, nil
}

// primedBefore asks the controller while the configuration on the disk is refused: the old one is in force there.
func primedBefore(ctx context.Context, e *env.Env, dir, name string, refused error) (primeShape,
	error) {
	near, closeNear, err := e.Dial(dir)
	if err != nil {
		return primeShape{}, refused
	}
	defer closeNear()
	g, err := env.FindAgent(ctx, near, name)
	if err != nil {
		return primeShape{}, errors.Join(refused, err)
	}
	about, err := near.Inspect(ctx, g.Name)
	if err != nil || about.Prompt == "" {
		return primeShape{}, refused
	}
	return primeShape{Agent: g.Name, File: about.PromptFile, Prompt: about.Prompt}, nil
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
	return fmt.Sprintf("You are the agent %s of a city of agents. Your folder is %s.\nNobody has "+
		"written down what you are for. What you can do:\n\n%s", w.Name, w.Spec.Dir, ways)
}

// generic is what whoever is no agent is told.
func generic(dir string) string {
	if dir == "" {
		return "This is not a city, and no folder above it is one: gcity init makes one, --city " +
			"DIR names one.\nAgents of a city have:\n\n" + ways
	}
	return fmt.Sprintf("This is the city in %s. You are none of its agents: gc prime AGENT says "+
		"what one of them is told,\ngc status who there is. Agents have:\n\n%s", dir, ways)
}
