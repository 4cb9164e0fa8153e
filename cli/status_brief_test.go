package cli

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"
	"time"

	"gcity/api"
	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/output"
)

func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprint("text", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint64:
		v.SetUint(uint64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i), n)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, *n%60, 0, time.UTC)))
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i), n)
			}
		}
	}
}

// status prints the same for a brief snapshot as for the full one, whatever its fields contain.
func TestStatusOfBriefSnapshot(t *testing.T) {
	now := time.Date(2026, 1, 2, 4, 0, 0, 0, time.UTC)
	a := &env.Env{Printer: output.Printer{Getenv: func(string) string { return "" }, Now: func() time.Time { return now }}}
	n := 0
	for _, state := range city.States {
		for _, variant := range []func(*city.Agent){
			func(*city.Agent) {},
			func(g *city.Agent) { g.Until, g.Drain.Acked = nil, false },
			func(g *city.Agent) { g.Reason, g.Session.Attached = "declared at "+g.Source, false },
			func(g *city.Agent) { g.Reason, g.Session, g.Running = "member of pool "+g.Pool, nil, false },
		} {
			full := new(city.Snapshot)
			fill(reflect.ValueOf(full).Elem(), &n)
			for i := range full.Agents {
				full.Agents[i].State = state
				variant(&full.Agents[i])
			}
			brief := api.Brief(full)
			var want, got bytes.Buffer
			for out, s := range map[*bytes.Buffer]*city.Snapshot{&want: full, &got: brief} {
				if err := writeStatus(a, out, s, &env.Link{Live: true}); err != nil {
					t.Fatal(err)
				}
			}
			if got.String() != want.String() {
				t.Errorf("%s: brief\n%s\nwhole\n%s", state, &got, &want)
			}
			if x, y := api.StatusOf(brief, now), api.StatusOf(full, now); !reflect.DeepEqual(x, y) {
				t.Errorf("%s: brief status %+v, full status %+v", state, x, y)
			}
		}
	}
}
