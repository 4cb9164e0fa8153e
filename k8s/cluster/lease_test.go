package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"gcity/internal/eventually"
	"gcity/session"
)

// rivals opens two providers of one city, as if on two machines.
func rivals(t *testing.T) (first, second *Provider) {
	t.Helper()
	s := settings(t)
	city := t.TempDir()
	first = openAs(t, Options{City: city, Settings: s, Holder: "one", Lease: 3 * time.Second})
	if _, err := first.List(t.Context()); err != nil {
		t.Fatal(err)
	}
	second = openAs(t, Options{City: city, Settings: s, Holder: "two", Lease: 3 * time.Second})
	return first, second
}

// A second controller of a city does not change pods. It acquires the Lease when the first one releases it.
func TestSecondController(t *testing.T) {
	first, second := rivals(t)
	st, err := first.Start(t.Context(), spec(first.o.City, "a", "exec cat"))
	if err != nil {
		t.Fatal(err)
	}
	_, started := second.Start(t.Context(), spec(first.o.City, "b", "exec cat"))
	_, listed := second.List(t.Context())
	for what, err := range map[string]error{
		"start": started, "list": listed, "check": second.Check(t.Context()),
		"delete": second.delete(t.Context(), first.find("a").pod),
	} {
		if !errors.Is(err, session.ErrMissing) && what != "list" ||
			!strings.Contains(err.Error(), "another controller runs this city: one has held the Lease "+
				leaseName(first.o.City)) || !strings.Contains(err.Error(), time.Now().Format(time.DateOnly)) {
			t.Errorf("%s: %v", what, err)
		}
	}
	first.Close()
	eventually.True(t, "the second controller adopts the agent", func() bool {
		all, err := second.List(t.Context())
		return err == nil && len(all) == 1 && all[0].ID == st.ID && all[0].Alive
	})
}

// A controller that cannot renew its Lease stops changing pods.
func TestExpiredLease(t *testing.T) {
	first, second := rivals(t)
	if _, err := first.Start(t.Context(), spec(first.o.City, "a", "exec cat")); err != nil {
		t.Fatal(err)
	}
	leases := first.client.CoordinationV1().Leases(first.o.Settings.Namespace)
	eventually.True(t, "the first controller loses the Lease", func() bool {
		// as if a second controller had acquired the Lease
		l, err := leases.Get(t.Context(), leaseName(first.o.City), metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if *l.Spec.HolderIdentity == "one" {
			holder := "two"
			l.Spec.HolderIdentity = &holder
			_, _ = leases.Update(t.Context(), l, metav1.UpdateOptions{}) // after a conflict, the next poll tries again
		}
		return first.mayChange(t.Context()) != nil
	})
	eventually.True(t, "the second controller adopts the agent", func() bool {
		all, err := second.List(t.Context())
		return err == nil && len(all) == 1 && all[0].Alive && all[0].Silent.IsZero()
	})
	if _, err := first.List(t.Context()); err == nil || !strings.Contains(err.Error(), "two has held the Lease") {
		t.Error(err)
	}
}

// If the clock of another controller's machine is slow, its Lease is valid as long as it is renewed.
func TestLeaseOfSlowClock(t *testing.T) {
	p, _ := unreachable(t)
	l := newLock(p)
	now := time.Now()
	renewed := func(at time.Time) (*resourcelock.LeaderElectionRecord, []byte) {
		r := &resourcelock.LeaderElectionRecord{HolderIdentity: "two", LeaseDurationSeconds: 30,
			RenewTime: metav1.NewTime(at.Add(-10 * time.Minute))}
		raw, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return r, raw
	}
	for after := range 40 { // seconds
		at := now.Add(time.Duration(after) * time.Second)
		r, raw := renewed(at)
		if l.stale(r, raw, at) {
			t.Fatalf("stale after %d renewals", after)
		}
	}
	r, raw := renewed(now)
	for after, want := range map[time.Duration]bool{0: false, 29 * time.Second: false, 30 * time.Second: true} {
		l.seen, l.seenAt = raw, now
		if got := l.stale(r, raw, now.Add(after)); got != want {
			t.Errorf("%s after the last renewal: stale is %v", after, got)
		}
	}
	p.term = &leadership{cancel: func() {}}
	r, raw = renewed(now.Add(time.Minute))
	if l.held(r, raw); p.term != nil || p.rival == nil || !p.until.IsZero() {
		t.Errorf("the other controller is not known: %v", p.rival)
	}
}

// If a controller restarts on the same machine after a crash, it acquires the Lease immediately.
func TestSameMachine(t *testing.T) {
	s := settings(t)
	city := t.TempDir()
	first := openAs(t, Options{City: city, Settings: s, Holder: "one"})
	if _, err := first.List(t.Context()); err != nil {
		t.Fatal(err)
	}
	second := openAs(t, Options{City: city, Settings: s, Holder: "one"})
	ctx, cancel := context.WithTimeout(t.Context(), leaseTime/2)
	defer cancel()
	if err := second.mayChange(ctx); err != nil {
		t.Error(err)
	}
}
