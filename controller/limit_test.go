package controller

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gcity/city"
	"gcity/controller/machine"
)

// The time limit of a stop is that of the configuration in force, before the loop runs and after a reload.
func TestStopLimit(t *testing.T) {
	const chain = "[daemon]\nshutdown_timeout = \"7s\"\n" +
		"[[agents]]\nname = \"a\"\nstart_command = \"x\"\n[[agents]]\nname = \"b\"\n" +
		"start_command = \"x\"\ndepends_on = [\"a\"]\n" +
		"[[agents]]\nname = \"c\"\nstart_command = \"x\"\ndepends_on = [\"b\"]\n[[agents]]\nname " +
		"= \"d\"\nstart_command = \"x\"\ndepends_on = [\"a\"]\n"
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, chain)
		if got, want := w.StopLimit(), 3*7*time.Second+machine.StopSlack; got != want {
			t.Errorf("at first %s, want %s", got, want)
		}
		defer w.begin()()
		synctest.Wait()
		for _, c := range []struct {
			toml string
			want time.Duration
		}{
			{strings.Replace(chain, "7s", "9s", 1), 3*9*time.Second + machine.StopSlack},
			{strings.Replace(chain, `depends_on = ["b"]`, "", 1),
				2*7*time.Second + machine.StopSlack},
			{strings.Replace(chain, "7s", "0s", 1), machine.StopSlack},
		} {
			w.write(c.toml)
			if _, err := w.Do(t.Context(), city.Reload{}); err != nil {
				t.Fatal(err)
			}
			if got := w.StopLimit(); got != c.want {
				t.Errorf("%s, want %s, with\n%s", got, c.want, c.toml)
			}
		}
		w.write("[[agents]]\nnonsense")
		if _, err := w.Do(t.Context(), city.Reload{}); err == nil ||
			w.StopLimit() != machine.StopSlack {
			t.Errorf("a refused configuration: %v, %s", err, w.StopLimit())
		}
	})
}
