package city_test

import (
	"testing"

	"gcity/city"
	"gcity/mail"
)

func post() *city.Snapshot {
	return &city.Snapshot{
		Agents: []city.Agent{
			{Name: "ann"}, {Name: "yard/bob"}, {Name: "mine/bob"}, {Name: "solo", Pool: "solo"}, {Name: "yard/crew-1", Pool: "yard/crew"},
			{Name: "twin"}, {Name: "yard/twin"},
		},
		Pools: []city.Pool{{Name: "solo", Max: 1}, {Name: "yard/crew", Max: 2}, {Name: "off"}},
	}
}

// A name belongs to one agent or pool, or else to a user. An ambiguous name is not resolved arbitrarily.
func TestAddress(t *testing.T) {
	s := post()
	for name, want := range map[string]string{
		"ann": "ann", " ann ": "ann", "yard/bob": "yard/bob", "twin": "twin", "yard/twin": "yard/twin",
		"crew": "pool:yard/crew", "yard/crew": "pool:yard/crew", "pool:crew": "pool:yard/crew", "pool:yard/crew": "pool:yard/crew",
		"yard/crew-1": "yard/crew-1", "crew-1": "yard/crew-1", "yard/crew-2": "yard/crew-2", "yard/crew-3": "yard/crew-3", "yard/crew-02": "yard/crew-02",
		"solo": "solo", "pool:solo": "pool:solo", "solo-1": "solo-1", "off": "pool:off",
		"human": "human", "Grace H.": "Grace H.", "other/ann": "other/ann",
		"ann/": "ann", "crew/": "pool:yard/crew", "town.ann": "ann", "yard/town.bob": "yard/bob", "pool:town.crew": "pool:yard/crew",
		"gone/": "gone/", "town.gone": "town.gone", "/": "/", "town.": "town.",
	} {
		if got, err := s.Address(name); err != nil || got != want {
			t.Errorf("%q is %q, %v; want %q", name, got, err, want)
		}
	}
	s.Pools = append(s.Pools, city.Pool{Name: "mine/ann2", Max: 2}, city.Pool{Name: "yard/ann2", Max: 2})
	s.Agents = append(s.Agents, city.Agent{Name: "spare/ann2"})
	_, err := s.Address("ann2")
	if want := `"ann2" is ambiguous; use pool:mine/ann2 for the pool, pool:yard/ann2 for the pool, or spare/ann2 for the agent`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	for name, code := range map[string]city.Code{"bob": city.Invalid, "pool:ann": city.NotFound, "pool:": city.NotFound} {
		if got, err := s.Address(name); codeOf(err) != code {
			t.Errorf("%q: got %q, %v", name, got, err)
		}
	}
}

// Every message counts for its recipient.
func TestCountMail(t *testing.T) {
	s := post()
	s.CountMail(city.MailTally{
		"ann": {Unread: 2, Total: 5}, "pool:yard/crew": {Unread: 3, Total: 3}, "yard/crew-1": {Unread: 1, Total: 1}, "yard/crew-2": {Unread: 7, Total: 7},
		"human": {Unread: 1, Total: 4}, "gone/agent": {Unread: 1, Total: 1}, "pool:gone": {Unread: 1, Total: 2}, "yard/crew-3": {Total: 1},
	})
	if want := (city.MailCount{Unread: 3, Total: 8}); s.Mail != want {
		t.Errorf("users have %+v, want %+v", s.Mail, want)
	}
	for name, want := range map[string]int{"ann": 2, "yard/crew-1": 4, "yard/bob": 0} {
		if a, ok := s.Agent(name); !ok || a.Mail != want {
			t.Errorf("%s has %+v, want %d", name, a, want)
		}
	}
	s.CountMail(nil)
	if s.Mail != (city.MailCount{}) {
		t.Errorf("%+v", s.Mail)
	}
}

func TestMayRead(t *testing.T) {
	s := post()
	for _, c := range []struct {
		to, reader string
		want       bool
	}{
		{"ann", "ann", true}, {"ann", "", false}, {"ann", "yard/bob", false}, {"human", "", true}, {"human", "ann", false}, {"gone", "", true},
		{"pool:yard/crew", "yard/crew-1", true}, {"pool:yard/crew", "yard/crew-2", true}, {"pool:yard/crew", "ann", false}, {"pool:yard/crew", "", false},
	} {
		if got := s.MayRead(mail.Message{To: c.to}, c.reader); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
