package fleet

import (
	"slices"
	"testing"

	"gcity/city"
)

// Cities of the same name get the shortest part of their folders that differs. A number in a listed name proves nothing.
func TestCitiesOfTheSameNameShowTheirFolder(t *testing.T) {
	row := func(name, path, own string) City {
		return City{Info: city.Info{Name: name, Path: path}, DisplayName: name, Summary: Summary{Name: own}}
	}
	for _, c := range []struct {
		rows []City
		want []string
	}{
		{[]City{row("demo", "/srv/a/demo", "demo"), row("demo-2", "/srv/b/demo", "demo")}, []string{"demo (a)", "demo (b)"}},
		{[]City{row("demo", "/srv/one", ""), row("demo-2", "/home/two", ""), row("x", "/x", "")}, []string{"demo", "demo-2", "x"}},
		{[]City{row("shop", "/srv/shop", "shop"), row("shop-2", "/srv/shop-2", "")}, []string{"shop", "shop-2"}},
		{[]City{row("demo", "/srv/a/demo", ""), row("demo-2", "/srv/b/demo", "demo")}, []string{"demo (a)", "demo (b)"}},
		{[]City{row("demo", "/srv/demo", "demo"), row("shop", "/srv/shop", "demo")}, []string{"demo", "demo (shop)"}},
		{[]City{row("d", "/a/x/d", "d"), row("d-2", "/b/x/d", "d"), row("d-3", "/a/d", "d")}, []string{"d (a/x)", "d (b/x)", "d (a)"}},
		{[]City{row("d", "/d", "d"), row("d-2", "/a/d", "d")}, []string{"d", "d (a)"}},
		{[]City{row("d-2", "/d", "d")}, []string{"d"}},
		{[]City{row("city-1", "/srv/p", ""), row("city-2", "/srv/q", "")}, []string{"city-1", "city-2"}},
	} {
		for range 2 { // the second call changes nothing
			Distinguish(c.rows)
		}
		var got []string
		for _, r := range c.rows {
			got = append(got, r.DisplayName)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
