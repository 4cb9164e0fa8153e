package placeholder

import (
	"strings"
	"testing"
)

// The final result of each template is short, so only a limit on the functions' results can reject it.
func TestFunctionsAreLimited(t *testing.T) {
	long := "with " + strings.Repeat("x", 1000)
	for name, text := range map[string]string{
		"a pipeline that doubles": `{{if eq ("\\"` + strings.Repeat(" | js", 20) + `) "x"}}{{end}}`,
		"many arguments": `{{with "` + long + `"}}{{if print` + strings.Repeat(" .", 100) +
			`}}{{end}}{{end}}`,
		"many calls": `{{with "` + long + `"}}` + strings.Repeat(`{{if print .}}{{end}}`, 1100) +
			`{{end}}`,
	} {
		_, err := Expand(text, Values{})
		if err == nil || !strings.Contains(err.Error(), "the result is too long") {
			t.Errorf("%s: %v, not an error about the length", name, err)
		}
	}
}

// The expansion of a template that contains only fields stops at the limit.
func TestFieldsAreLimited(t *testing.T) {
	v := Values{Dir: strings.Repeat("x", 1000)}
	for fields, want := range map[int]string{
		65: "", 66: "the result is too long", Max: "is a template of",
	} {
		text := strings.Repeat("{{.Dir}}", fields)
		if _, err := Expand(text, v); (err == nil) != (want == "") ||
			err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d fields: %v, want %q", fields, err, want)
		}
		if n := testing.AllocsPerRun(1, func() { plain(text, v, nil) }); n > 20 {
			t.Errorf("%d fields: %v allocations", fields, n)
		}
	}
}

func TestFunctions(t *testing.T) {
	got, err := Expand(`{{print .Name 1}} {{.Name | js}} {{html .Name}} {{.Name | urlquery}}`,
		Values{Name: `a'b c`})
	if want := `a'b c1 a\'b c a&#39;b c a%27b+c`; err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}
