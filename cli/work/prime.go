package work

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gcity/cli/env"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/controller/perform"
	"gcity/hooks"
	"gcity/internal/suggest"
	"gcity/mail"
)

const primeLimit = 20 * time.Second

type primeShape struct {
	Agent  string `json:"agent,omitempty"` // "" if not for an agent
	File   string `json:"file,omitempty"`
	Prompt string `json:"prompt"`

	// unread messages from the previous session, newest first
	Handed []mail.Message `json:"handed,omitempty"`
}

// PrimeCommand returns the prime command.
func PrimeCommand(e *env.Env) *cobra.Command {
	var hook bool
	var format string
	c := &cobra.Command{
		Use: "prime [AGENT]", Short: "Print an agent's prompt",
		Long: `prime prints an agent's prompt as it would be if the agent started now: its template
with all values filled in. Without a name it uses the session's own agent (GC_AGENT),
and adds unread messages that the previous session left with gc handoff. If the agent
has no prompt, or if there is neither a name nor a session, it prints a list of useful
commands.

--hook is for an agent's hook files: the command then always exits 0.`,
		Example:           "  gc prime\n  gcity prime worker",
		ValidArgsFunction: env.Complete(e, suggest.Agent),
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
					fmt.Fprintln(e.Err, "gcity: cannot read the messages that the previous "+
						"session left: "+output.SafeText(err.Error()))
				}
			}
			if e.JSON {
				return e.WriteJSON(p)
			}
			text := shown(e, strings.TrimRight(p.Prompt, "\n")) + "\n"
			if left := mail.LeftMessages(p.Handed); left != "" {
				text += "\n" + shown(e, strings.TrimRight(left, "\n")) + "\n"
			}
			return printForModel(e, format, hooks.Prime, text)
		},
	}
	c.Flags().BoolVar(&hook, "hook", false, "for a hook file: always exit 0")
	hookFormat(c, &format)
	return c
}

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
		return promptInForce(ctx, e, dir, name, err)
	}
	w, err := env.WantOf(folder.Plan(c, dir), name)
	switch {
	case err != nil && named:
		return primeShape{}, err
	case err != nil:
		return undeclared(ctx, e, dir, name), nil
	}
	text, err := perform.PromptOf(ctx, w, false)
	if err != nil {
		return primeShape{}, err
	}
	if strings.TrimSpace(text) == "" {
		text = fmt.Sprintf("You are the agent %s in a city of agents. Your folder is %s.\nYou "+
			"have no prompt. Useful commands:\n\n%s", w.Name, w.Spec.Dir, agentCommands)
	}
	return primeShape{Agent: w.Name, File: w.Prompt.File, Prompt: text}, nil
}

// undeclared returns the output for an agent that is not in the configuration, such as a member of a removed pool that
// is draining.
func undeclared(ctx context.Context, e *env.Env, dir, name string) primeShape {
	l, err := e.Open(ctx)
	if err != nil {
		return primeShape{Prompt: generic(dir)}
	}
	defer l.Close()
	g, err := env.FindAgent(ctx, l, name)
	if err != nil || g.Name != name {
		return primeShape{Prompt: generic(dir)}
	}
	return primeShape{Agent: name, Prompt: fmt.Sprintf("You are the agent %s in a city of agents. "+
		"You have no prompt,\nbecause the configuration no longer contains you. Finish your work, "+
		"or leave it to\nanother agent with gc handoff. Useful commands:\n\n%s", name,
		agentCommands)}
}

func promptInForce(ctx context.Context, e *env.Env, dir, name string, invalid error) (primeShape,
	error) {
	near, closeNear, err := e.Dial(dir)
	if err != nil {
		return primeShape{}, invalid
	}
	defer closeNear()
	g, err := env.FindAgent(ctx, near, name)
	if err != nil {
		return primeShape{}, errors.Join(invalid, err)
	}
	about, err := near.Inspect(ctx, g.Name)
	if err != nil || about.Prompt == "" {
		return primeShape{}, invalid
	}
	return primeShape{Agent: g.Name, File: about.PromptFile, Prompt: about.Prompt}, nil
}

const agentCommands = `  gc hook                    your work, in progress or ready to start
  gc bead show ID            all details of one bead
  gc bead update ID --claim  claim it before you start; if that fails, another agent
                             has claimed it
  gc bead close ID           close it when it is done
  gc agent drain-check       exit 0 if you should finish; then stop with gc agent drain-ack
  gc --help                  all other commands`

func generic(dir string) string {
	if dir == "" {
		return "This folder is not in a city; run gcity init to create one, or select one " +
			"with --city DIR.\n" +
			"Useful commands for agents in a city:\n\n" + agentCommands
	}
	return fmt.Sprintf("This is the city in %s. You are not one of its agents; gcity prime "+
		"AGENT prints an agent's prompt,\nand gcity status lists the agents. Useful commands for "+
		"agents:\n\n%s", dir, agentCommands)
}
