package cli

import (
	"fmt"
	"reflect"

	"github.com/rogpeppe/go-internal/diff"
)

// difference returns "" for equal values. go-cmp would describe it better, but the programs that the scripts start are
// this test binary, and its regular expressions take a tenth of the time that such a program needs to start.
func difference(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	lines := func(v any) []byte {
		if text, ok := v.(string); ok {
			return []byte(text)
		}
		return fmt.Appendf(nil, "%+v\n", v)
	}
	return string(diff.Diff("want", lines(want), "got", lines(got)))
}
