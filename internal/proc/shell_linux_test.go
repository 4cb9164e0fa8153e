package proc

import (
	"strings"
	"testing"
)

func TestInteractive(t *testing.T) {
	for line, want := range map[string]bool{
		"sh": true, "-bash": true, "/bin/zsh -l": true, "sh -i": true, "bash --norc -i": true,
		"bash -o vi":          true,
		"bash --rcfile /x/rc": true, "fish": true, "ksh +o history": true, "bash -": false,
		"": false, "sh script.sh": false, "bash -c exit": false, "bash -ic top": false,
		"vim": false, "bash -i script": false,
		"fish --command=top": false, "python3 -i": false, "bash -o vi script": false,
	} {
		if got := interactive(strings.Fields(line)); got != want {
			t.Errorf("%q: %t", line, got)
		}
	}
}
