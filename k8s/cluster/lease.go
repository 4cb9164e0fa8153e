package cluster

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"gcity/session"
)

const (
	// leaseTime is how long a Lease is valid after its last renewal.
	leaseTime    = 30 * time.Second
	releaseLimit = 2 * time.Second
)

// leadership is a period (term) in which this provider watches the city's pods. The provider has acquired the city's
// Lease, unless it only observes.
type leadership struct {
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// begin starts a term. The caller must hold mu.
func begin(p *Provider) {
	t := &leadership{}
	t.ctx, t.cancel = context.WithCancel(p.life)
	p.term = t
	t.wg.Go(func() { p.watch(t.ctx) })
}

func (p *Provider) endTerm() {
	p.mu.Lock()
	t := p.term
	if t == nil {
		p.mu.Unlock()
		return
	}
	p.term = nil
	t.cancel()
	p.mu.Unlock()
	t.wg.Wait()
}

// run acquires and renews the city's Lease until Close. A provider that only observes needs no Lease.
func (p *Provider) run() {
	defer p.endTerm()
	if p.o.Observe {
		p.mu.Lock()
		begin(p)
		p.mu.Unlock()
		<-p.life.Done()
		return
	}
	for p.life.Err() == nil {
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: newLock(p), LeaseDuration: p.o.Lease,
			RenewDeadline: p.o.Lease * 2 / 3, RetryPeriod: p.o.Lease / 6,
			ReleaseOnCancel: true, Name: leaseName(p.o.City),
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) {}, // lock.renewed starts the term
				OnStoppedLeading: func() {},
			},
		})
		if err != nil {
			wait := p.o.Lease / 6
			err = fmt.Errorf("cannot acquire the city's Lease: %w", err)
			p.setDown(err, time.Now().Add(wait))
			select {
			case <-time.After(wait):
			case <-p.life.Done():
			}
			continue
		}
		elector.Run(p.life)
	}
}

func leaseName(city string) string { return "gcity-" + cityLabel(city) }

// lock is the city's Lease. It reports the results of the elector's requests to the provider.
type lock struct {
	*resourcelock.LeaseLock
	p *Provider

	seen   []byte    // newest record of another holder
	seenAt time.Time // when the lock read this record for the first time
}

func newLock(p *Provider) *lock {
	return &lock{p: p, LeaseLock: &resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Name: leaseName(p.o.City), Namespace: p.o.Settings.Namespace},
		Client:    p.client.CoordinationV1(),
		Labels: map[string]string{
			labelCity: cityLabel(p.o.City), "app.kubernetes.io/managed-by": "gcity",
		},
		LockConfig: resourcelock.ResourceLockConfig{Identity: p.o.Holder},
	}}
}

func (l *lock) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if l.p.life.Err() != nil {
		return context.WithTimeout(ctx, releaseLimit)
	}
	return context.WithTimeout(ctx, callLimit)
}

// Get implements resourcelock.Interface.
func (l *lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	ctx, cancel := l.limit(ctx)
	defer cancel()
	record, raw, err := l.LeaseLock.Get(ctx)
	switch {
	case err != nil && !apierrors.IsNotFound(err):
		l.unleased(err, "get")
	case err == nil && record.HolderIdentity != "" && record.HolderIdentity != l.Identity():
		l.held(record, raw)
	}
	return record, raw, err
}

// Create implements resourcelock.Interface.
func (l *lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	ctx, cancel := l.limit(ctx)
	defer cancel()
	return l.wrote(record, l.LeaseLock.Create(ctx, record), "create")
}

// Update implements resourcelock.Interface.
func (l *lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	ctx, cancel := l.limit(ctx)
	defer cancel()
	return l.wrote(record, l.LeaseLock.Update(ctx, record), "update")
}

func (l *lock) wrote(record resourcelock.LeaderElectionRecord, err error, verb string) error {
	switch {
	case err == nil:
		l.renewed(record)
	case !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err):
		l.unleased(err, verb)
	}
	return err
}

func (l *lock) renewed(record resourcelock.LeaderElectionRecord) {
	p := l.p
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.changed()
	if record.HolderIdentity == "" {
		p.until = time.Time{}
		return
	}
	p.until, p.leaseErr = record.RenewTime.Add(p.o.Lease), nil
	if p.rival != nil {
		p.o.Logger.Info("this controller has taken over the city's Lease",
			"lease", leaseName(p.o.City))
		p.rival = nil
	}
	if p.term == nil && p.life.Err() == nil {
		begin(p)
	}
}

// unleased records that a request about the Lease has failed. Outside a term, the error also explains why the state of
// the city's pods is unknown.
func (l *lock) unleased(err error, verb string) {
	p := l.p
	if p.life.Err() != nil {
		return
	}
	why := p.explain(err, verb)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leaseErr = why
	if p.term == nil {
		p.lose(why, nextLease(p))
	}
	p.changed()
}

func (l *lock) held(record *resourcelock.LeaderElectionRecord, raw []byte) {
	p := l.p
	if l.stale(record, raw, time.Now()) {
		return // the elector will acquire the Lease
	}
	p.endTerm()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rival = otherHolderError(p, record)
	p.until = time.Time{}
	p.lose(p.rival, nextLease(p))
	p.changed()
}

// stale reports whether another holder has not renewed the Lease for the Lease's duration. Like the elector, it does
// not compare times of different machines, because their clocks may differ.
func (l *lock) stale(r *resourcelock.LeaderElectionRecord, raw []byte, now time.Time) bool {
	if !bytes.Equal(raw, l.seen) {
		l.seen, l.seenAt = raw, now
	}
	return !now.Before(l.seenAt.Add(time.Duration(r.LeaseDurationSeconds) * time.Second))
}

func nextLease(p *Provider) time.Time {
	const jitter = 1 + leaderelection.JitterFactor
	return time.Now().Add(time.Duration(jitter * float64(p.o.Lease/6)))
}

// expired reports whether a Lease was not renewed in time. It is for a caller that reads the Lease only once. If the
// clocks of the machines differ, the result may be wrong.
func expired(r *resourcelock.LeaderElectionRecord) bool {
	valid := time.Duration(r.LeaseDurationSeconds) * time.Second
	return time.Now().After(r.RenewTime.Add(valid))
}

func otherHolderError(p *Provider, r *resourcelock.LeaderElectionRecord) error {
	return session.Missing(fmt.Errorf("another controller runs this city: %s has held the "+
		"Lease %s in namespace %s since %s and renewed it at %s; stop that controller, or use a "+
		"different namespace; this controller will take over when the Lease is released or expires",
		r.HolderIdentity, leaseName(p.o.City), p.o.Settings.Namespace,
		r.AcquireTime.Local().Format(time.DateTime),
		r.RenewTime.Local().Format(time.TimeOnly)))
}

// mayChange returns an error if this provider must not change pods. It waits for the cluster's first response.
func (p *Provider) mayChange(ctx context.Context) error {
	if p.o.Observe {
		return errors.New("a different process runs this city, so this one cannot change its pods")
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	holds := func() bool { return p.synced && before(time.Now(), p.until) }
	err := p.await(ctx, func() bool { return p.down != nil || holds() })
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.down != nil:
		return session.Missing(p.down)
	case !holds():
		return session.Missing(fmt.Errorf("the Lease %s in namespace %s was not renewed: %w",
			leaseName(p.o.City), p.o.Settings.Namespace, cmp.Or(p.leaseErr, err)))
	}
	return nil
}

// before compares two times by the wall clock and by the monotonic clock, which may stop while the machine sleeps.
func before(now, until time.Time) bool {
	return now.Before(until) && now.Round(0).Before(until.Round(0))
}

func checkLease(ctx context.Context, p *Provider) error {
	leases := p.client.CoordinationV1().Leases(p.o.Settings.Namespace)
	lease, err := leases.Get(ctx, leaseName(p.o.City), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return p.explain(err, "get")
	}
	r := resourcelock.LeaseSpecToLeaderElectionRecord(&lease.Spec)
	if r.HolderIdentity == "" || r.HolderIdentity == p.o.Holder || expired(r) {
		return nil
	}
	return otherHolderError(p, r)
}

// holder returns the identity of this machine for the Lease. A new controller on the same machine has the same
// identity, so it can continue immediately after a crash.
func holder() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown-host"
	}
	for _, file := range []string{"/etc/machine-id", "/proc/sys/kernel/random/boot_id"} {
		if id, err := os.ReadFile(file); err == nil && len(strings.TrimSpace(string(id))) > 0 {
			sum := sha256.Sum256(id) // the ID is confidential (see machine-id(5)), so use a hash
			return host + "-" + hex.EncodeToString(sum[:4])
		}
	}
	return host
}
