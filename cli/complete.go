package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"gcity/cli/env"
	"gcity/internal/suggest"
)

func completions(e *env.Env, root *cobra.Command) {
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	values := map[string]cobra.CompletionFunc{
		"rig": env.Offer(e, suggest.Rig), "pool": env.Offer(e, suggest.Pool),
		"assignee": env.Offer(e, suggest.Agent, suggest.Pool), "city": env.CompleteDirs,
		"file": env.CompleteFiles,
	}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for name, offer := range values {
			if flag := c.Flags().Lookup(name); flag != nil && flag.Value.Type() != "bool" {
				// this fails if the flag already has a completion function
				_ = c.RegisterFlagCompletionFunc(name, offer)
			}
		}
		if flag := c.PersistentFlags().Lookup("city"); flag != nil {
			_ = c.RegisterFlagCompletionFunc("city", env.CompleteDirs)
		}
		if c.ValidArgsFunction == nil {
			switch {
			case strings.Contains(c.Use, "FILE"):
				c.ValidArgsFunction = env.CompleteFiles
			case strings.Contains(c.Use, "PATH"), strings.Contains(c.Use, "DIR"):
				c.ValidArgsFunction = env.CompleteDirs
			}
		}
		for _, below := range c.Commands() {
			walk(below)
		}
	}
	walk(root)
}

// bashWords does not split at colons, because automation names contain them.
const bashWords = `
    if ! declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
        local line=${COMP_LINE:0:$COMP_POINT}
        read -r -a words <<<"$line"
        [[ $line == *[[:space:]] ]] && words+=("")
        cword=$((${#words[@]} - 1)) cur=${words[${#words[@]} - 1]} prev=${words[${#words[@]} - 2]-}
        return
    fi
`

// bashColons removes the part of the current word up to its last colon from the completions, because bash treats that
// part as a separate word.
const bashColons = `
    __gcity_process_completion_results
    if [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]] && ! declare -F __ltrim_colon_completions >/dev/null 2>&1; then
        local i before=${cur%"${cur##*:}"}
        for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]=${COMPREPLY[i]#"$before"}; done
    elif declare -F __ltrim_colon_completions >/dev/null 2>&1; then
        __ltrim_colon_completions "$cur"
    fi
}

if [[`

func bashCompletion(root *cobra.Command, w io.Writer) error {
	var b strings.Builder
	if err := root.GenBashCompletionV2(&b, true); err != nil {
		return err
	}
	text := strings.Replace(b.String(), "    COMPREPLY=()\n    _get_comp_words_by_ref",
		"    COMPREPLY=()"+bashWords+"    _get_comp_words_by_ref", 1)
	text = strings.Replace(text, "\n    __gcity_process_completion_results\n}\n\nif [[", bashColons,
		1)
	_, err := io.WriteString(w, text)
	return err
}
