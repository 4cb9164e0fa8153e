package main

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestQuantileAndMedian(t *testing.T) {
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(100 - i)
	}
	for _, c := range []struct {
		values       []float64
		p99, max, md float64
	}{
		{hundred, 99, 100, 50.5},
		{[]float64{7}, 7, 7, 7},
		{[]float64{3, 1, 2}, 3, 3, 2},
	} {
		if got := quantile(c.values, 0.99); got != c.p99 {
			t.Errorf("p99 of %v is %v, want %v", c.values, got, c.p99)
		}
		if got := quantile(c.values, 1); got != c.max {
			t.Errorf("max of %v is %v, want %v", c.values, got, c.max)
		}
		if got := median(c.values); got != c.md {
			t.Errorf("median of %v is %v, want %v", c.values, got, c.md)
		}
	}
	if hundred[0] != 100 {
		t.Error("quantile changed its argument")
	}
	if !math.IsNaN(quantile(nil, 0.5)) || !math.IsNaN(median(nil)) {
		t.Error("got a median of an empty list")
	}
}

func TestMarkdown(t *testing.T) {
	tab := newTable([]string{floorName, gcityName, "tmux", "runit"})
	for _, v := range []float64{4, 2, 3} {
		tab.add("start, s", gcityName, v)
	}
	tab.add("start, s", floorName, 0.5)
	tab.add("start, s", "tmux", 12)
	tab.add("start, s", "runit", 1.5)
	tab.add("status, ms", gcityName, 250)
	tab.add("status, ms", "tmux", 0)
	want := strings.TrimPrefix(`
| workload | floor | gcity | tmux | runit | gcity / floor | gcity / best peer |
|---|---|---|---|---|---|---|
| start, s | 0.500 | 3.00 (2.00–4.00) | 12.0 | 1.50 | 6.00× | 2.00× |
| status, ms | – | 250 | 0 | – | – | – |
`, "\n")
	if got := tab.markdown(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestParseField(t *testing.T) {
	for _, c := range []struct {
		text, name string
		want       int64
		ok         bool
	}{
		{"usage_usec 1234\nuser_usec 1000\n", "usage_usec", 1234, true},
		{"Rss:    900 kB\nPss:   12 kB\nPss_Anon:  3 kB\n", "Pss", 12, true},
		{"cpu 1 2\nprocesses 77\n", "processes", 77, true},
		{"processes x\n", "processes", 0, false},
		{"processes_running 3\n", "processes", 0, false},
		{"", "processes", 0, false},
	} {
		if got, ok := parseField(c.text, c.name); got != c.want || ok != c.ok {
			t.Errorf("parseField(%q, %q) = %d, %v", c.text, c.name, got, ok)
		}
	}
}

func TestOwnGroup(t *testing.T) {
	const hybrid = "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\ncgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n"
	for _, c := range []struct{ mounts, own, want string }{
		{hybrid, "2:cpu:/x\n0::/\n", "/sys/fs/cgroup/unified"},
		{"cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n", "0::/user.slice/a.scope\n", "/sys/fs/cgroup/user.slice/a.scope"},
		{"cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n", "2:cpu:/\n", ""},
		{hybrid, "2:cpu:/\n", ""},
	} {
		got, ok := ownGroup(c.mounts, c.own)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("ownGroup(%q, %q) = %q, %v", c.mounts, c.own, got, ok)
		}
	}
}

func TestParse(t *testing.T) {
	o, err := parse([]string{"-n", "", "-runs", "", "-peers", ""})
	if err != nil || !slices.Equal(o.sizes, []int{100, 500}) || o.runs != 3 || o.peers != nil {
		t.Errorf("empty values: got %+v, %v", o, err)
	}
	o, err = parse([]string{"-n", "5, 7", "-runs", "2", "-peers", "floor,tmux"})
	if err != nil || !slices.Equal(o.sizes, []int{5, 7}) || o.runs != 2 || len(o.peers) != 2 {
		t.Errorf("got %+v, %v", o, err)
	}
	for _, bad := range [][]string{{"-n", "x"}, {"-n", "0"}, {"-runs", "0"}, {"-runs", "many"}} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
}

func TestChoose(t *testing.T) {
	all := []peer{{name: "a", program: "sh"}, {name: "b", program: "no-such-program"}, {name: "c", program: "true"}}
	found, missing, err := choose(all, nil)
	if err != nil || !slices.Equal(names(found), []string{"a", "c"}) || !slices.Equal(missing, []string{"b"}) {
		t.Errorf("got %v, missing %v, %v", names(found), missing, err)
	}
	if found, _, _ := choose(all, []string{"c"}); !slices.Equal(names(found), []string{"c"}) {
		t.Errorf("found %v", names(found))
	}
	if _, _, err := choose(all, []string{"d"}); err == nil {
		t.Error("an unknown peer was accepted")
	}
}
