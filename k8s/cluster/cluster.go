package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"gcity/session"
)

// Options configures a Provider.
type Options struct {
	City     string // absolute path of the city's folder, on this machine and in the pods
	Observe  bool   // another process runs the city, so the provider must not change anything
	Settings Settings
	// this controller's identity in the Lease; "" = derived from the machine
	Holder string
	Lease  time.Duration // how long the city's Lease is valid without a renewal; 0 = 30 s
	// how long a start waits for its pod to run; 0 = 5 minutes
	StartLimit time.Duration
	Logger     *slog.Logger
}

// Provider runs sessions as pods.
type Provider struct {
	o      Options
	config *rest.Config
	client kubernetes.Interface
	exits  chan session.Exit
	// contains a value if the receiver should call List; see session.Changer
	changes chan struct{}
	stop    context.CancelFunc
	life    context.Context
	done    chan struct{}

	mu    sync.Mutex
	term  *leadership // the current term; nil = none
	until time.Time   // the Lease is valid until this time
	// error of the last request about the Lease; nil = it succeeded
	leaseErr error
	// names the controller that holds the Lease; nil = no other controller is known
	rival error
	pods  map[string]*entry // by pod name
	// the state of the pods is known: they were listed, and have been watched since then
	synced bool
	down   error     // why the state of the pods is unknown; nil = it is known, or not yet listed
	since  time.Time // when the state of the pods became unknown
	// next request while the state of the pods is unknown
	retry time.Time
	moved chan struct{} // closed and replaced when an entry changes
	kept  map[string][]output

	// state of the file that contains the location of the pods; see location
	saved    bool // the file contains the configured location
	located  bool // the file was updated after the first list of the pods
	creating int  // number of pods that are being created
}

// entry is the last known state of a pod and its session.
type entry struct {
	note note
	pod  *corev1.Pod
	gone bool // the pod was deleted, but the session's end is not acknowledged yet

	link *link // nil = no open stream
	// why the stream cannot be opened; nil = it is open, or not tried yet
	broken  error
	event   string         // newest warning about the pod before its agent started; "" = none
	last    session.Status // last status that the pod sent; zero = none
	silent  time.Time      // start of the time without a stream; zero = the pod has a stream
	exit    *session.Exit
	asked   bool // the controller has requested a stop of the session
	worker  bool // the goroutine that keeps the stream open is running
	drained bool // the controller was asked to drain the agent

	// Start has not returned yet. Until then, only Start reports an exit. If the start fails, Start deletes the pod.
	starting bool

	deletionSeen time.Time // first sight of the pod's deletion; zero = it is not being deleted
}

type output struct {
	id   string
	data []byte
}

const (
	maxExits  = 1024
	callLimit = 10 * time.Second // timeout for one request to the API server
)

// New creates a Provider. The Provider connects to the cluster in the background. List and Start report problems with
// the cluster.
func New(o Options) (*Provider, error) {
	config, err := o.Settings.restConfig()
	if err != nil {
		return nil, session.Missing(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, session.Missing(fmt.Errorf("cannot use the cluster: %w", err))
	}
	o.Holder, o.Lease = cmp.Or(o.Holder, holder()), cmp.Or(o.Lease, leaseTime)
	o.StartLimit = cmp.Or(o.StartLimit, patience)
	p := &Provider{
		o: o, done: make(chan struct{}), config: config, client: client,
		exits: make(chan session.Exit, maxExits), changes: make(chan struct{}, 1),
		pods: map[string]*entry{}, moved: make(chan struct{}), kept: map[string][]output{},
	}
	p.life, p.stop = context.WithCancel(context.Background())
	go func() { // runs until Close
		defer close(p.done)
		p.run()
	}()
	return p, nil
}

// Close closes the streams to all pods and releases the city's Lease. The pods keep running.
func (p *Provider) Close() {
	p.mu.Lock()
	known := p.synced && !p.o.Observe
	p.mu.Unlock()
	if known {
		removeLocation(p)
	}
	p.stop()
	<-p.done
}

// changed wakes all callers of await. The caller must hold mu.
func (p *Provider) changed() {
	close(p.moved)
	p.moved = make(chan struct{})
}

// await waits until cond returns true. It calls cond with mu held, immediately and after every call of changed.
func (p *Provider) await(ctx context.Context, cond func() bool) error {
	for {
		p.mu.Lock()
		ok, moved := cond(), p.moved
		p.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Exits implements session.Notifier.
func (p *Provider) Exits() <-chan session.Exit { return p.exits }

// Changes implements session.Changer. The channel receives a value when the cluster or a stream is lost or returns.
func (p *Provider) Changes() <-chan struct{} { return p.changes }

func signal(p *Provider) {
	select {
	case p.changes <- struct{}{}:
	default:
	}
}

// end records a session's exit. It also reports the exit, unless Start will do that. Later calls have no effect. The
// caller must hold mu.
func (p *Provider) end(e *entry, x session.Exit) {
	if e.exit != nil {
		return
	}
	x.Asked = x.Asked || e.asked
	e.exit = &x
	if !e.starting {
		p.report(x)
	}
	p.changed()
}

// report sends an exit to the channel of Exits. If the channel is full, it drops the exit, but List still returns it.
func (p *Provider) report(x session.Exit) {
	select {
	case p.exits <- x:
	default:
	}
}

// lost determines and records an exit that the pod has not reported. The caller must hold mu.
func (p *Provider) lost(e *entry, reason string) {
	code, signal, why := ended(e.pod)
	if reason != "" {
		why = reason
	}
	at := time.Now()
	p.end(e, session.Exit{
		Name: e.note.Name, Agent: e.note.Agent, ID: e.note.ID,
		Code: code, Signal: signal, Lost: true, Reason: why,
		At: at, Uptime: at.Sub(since(e.pod).Time),
	})
}

// alive reports whether a session counts as running. This includes the session of a failed start until its pod no
// longer exists, because the caller of Start might have stopped waiting. The caller must hold mu.
func (e *entry) alive() bool { return e.exit == nil || e.starting && !e.gone }

// find returns the entry of a session's pod, or nil. The caller must hold mu.
func (p *Provider) find(name string) *entry { return p.pods[podName(p.o.City, name)] }

// lookUp returns the entry of a session's pod, or nil if the session has no pod. If no entry is known, lookUp waits
// until the state of the pods is known. It returns an error if the state remains unknown.
func lookUp(ctx context.Context, p *Provider, name string) (e *entry, err error) {
	known := func() bool {
		e = p.find(name)
		return e != nil || p.synced || p.down != nil
	}
	if err := p.await(ctx, known); err != nil {
		return nil, fmt.Errorf("the cluster has not responded: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if e == nil && !p.synced {
		return nil, unavailable(p)
	}
	return e, nil
}

// unavailable returns an error that says why and since when the state of the pods is unknown. The caller must hold mu.
func unavailable(p *Provider) error {
	at := "at"
	if p.term == nil { // the elector adds a random delay to the interval of its requests
		at = "by"
	}
	return fmt.Errorf("the state of the city's pods has been unknown since %s; "+
		"retry %s %s: %w",
		p.since.Format(time.TimeOnly), at, p.retry.Format(time.TimeOnly), p.down)
}

func (p *Provider) livingLink(ctx context.Context, verb, name string) (*link, error) {
	e, err := lookUp(ctx, p, name)
	if err != nil {
		return nil, fmt.Errorf("cannot %s %q: %w", verb, name, err)
	}
	p.mu.Lock()
	alive := e != nil && e.exit == nil && !e.gone
	p.mu.Unlock()
	if !alive {
		return nil, fmt.Errorf("cannot %s %q: %w", verb, name, session.ErrNotFound)
	}
	return p.linkOf(ctx, verb, name)
}

func (p *Provider) linkOf(ctx context.Context, verb, name string) (*link, error) {
	if _, err := lookUp(ctx, p, name); err != nil {
		return nil, fmt.Errorf("cannot %s %q: %w", verb, name, err)
	}
	var l *link
	gone := false
	err := p.await(ctx, func() bool {
		e := p.find(name)
		if gone = e == nil || e.gone; gone {
			return true
		}
		l = e.link
		return l != nil
	})
	switch {
	case gone:
		return nil, fmt.Errorf("cannot %s %q: %w", verb, name, session.ErrNotFound)
	case err != nil:
		return nil, fmt.Errorf("cannot %s %q without a stream to its pod: %w", verb, name, err)
	}
	return l, nil
}

// checkStream waits until the stream to a session's pod is open, if the session is alive. It returns an error as soon
// as an attempt to open the stream fails, because the cluster may be unreachable for a long time. It also returns an
// error if another controller has taken over the city.
func checkStream(ctx context.Context, p *Provider, verb, name string) error {
	why := ""
	err := p.await(ctx, func() bool {
		e := p.find(name)
		if e == nil || e.link != nil || e.exit != nil || e.gone {
			return true
		}
		switch {
		case p.term == nil && p.down != nil: // nothing opens a stream until the next term
			why = unavailable(p).Error()
		case e.broken != nil:
			why = e.reason(time.Now())
		}
		return why != ""
	})
	switch {
	case err != nil:
		return fmt.Errorf("cannot %s %q without a stream to its pod: %w", verb, name, err)
	case why != "":
		return fmt.Errorf("cannot %s %q: %s", verb, name, why)
	}
	return nil
}

// List implements session.Provider.
func (p *Provider) List(ctx context.Context) ([]session.Status, error) {
	if err := p.await(ctx, func() bool { return p.synced || p.down != nil }); err != nil {
		return nil, fmt.Errorf("the cluster has not responded: %w", err)
	}
	p.mu.Lock()
	if !p.synced {
		defer p.mu.Unlock()
		return nil, unavailable(p)
	}
	p.mu.Unlock()
	p.adopt(ctx)
	p.mu.Lock()
	links := map[string]*link{}
	for name, e := range p.pods {
		if e.link != nil && e.exit == nil {
			links[name] = e.link
		}
	}
	p.mu.Unlock()
	var wg sync.WaitGroup
	for name, l := range links {
		wg.Go(func() { p.refresh(ctx, name, l) })
	}
	wg.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	out := []session.Status{}
	for _, e := range p.pods {
		if e.starting && e.gone {
			continue // Start has not returned yet and will remove the entry
		}
		out = append(out, p.status(e))
	}
	session.Order(out)
	return out, nil
}

// adoptLimit limits how long List waits for the first stream to a running pod.
const adoptLimit = 3 * time.Second

// adopt waits for streams to running pods. It ignores a pod that has had no stream for adoptLimit.
func (p *Provider) adopt(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, adoptLimit)
	defer cancel()
	_ = p.await(ctx, func() bool {
		for _, e := range p.pods {
			young := !e.silent.IsZero() && time.Since(e.silent) < adoptLimit
			if runs(e.pod) && e.exit == nil && e.link == nil && young {
				return false
			}
		}
		return true
	})
}

func (p *Provider) refresh(ctx context.Context, name string, l *link) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	p.mu.Lock()
	e := p.pods[name]
	// a session that was starting might be missing from the response
	starting := e != nil && e.starting
	p.mu.Unlock()
	all, err := l.List(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	e = p.pods[name]
	switch {
	case err != nil || e == nil || e.link != l:
	case len(all) > 0:
		p.heard(e, &all[len(all)-1])
	case !starting && !e.starting && !p.o.Observe:
		p.lost(e, "the controller exited before the agent was started")
	}
}

// heard records a status that a pod has sent. The caller must hold mu.
func (p *Provider) heard(e *entry, st *session.Status) {
	if st.ID != e.note.ID {
		return
	}
	e.last = *st
	if st.Exit != nil {
		p.end(e, e.reported(*st.Exit))
	}
}

// status returns the last known status of a session. The caller must hold mu.
func (p *Provider) status(e *entry) session.Status {
	st := e.last
	st.Name, st.Agent, st.City = e.note.Name, e.note.Agent, e.note.City
	st.ID, st.Fingerprint = e.note.ID, e.note.Fingerprint
	st.PID = 0 // a pid in the pod has no meaning on this machine
	st.Alive, st.Exit = e.alive(), nil
	if !st.Alive {
		st.Exit = e.exit
	}
	st.Details = details(e.pod)
	if e.note.Image != "" && e.note.Image != p.o.Settings.Image {
		st.Outdated = []string{"session.k8s.image changed"}
	}
	if st.Started.IsZero() {
		st.Started = since(e.pod).Time
	}
	if st.Alive && e.link == nil {
		st.Silent = e.silent
	}
	if st.Alive {
		st.Reason = e.reason(time.Now())
	}
	if !st.Alive {
		st.Drain, st.Draft, st.Attached = session.Drain{}, false, 0
	}
	return st
}

func details(pod *corev1.Pod) []string {
	out := []string{"pod " + pod.Namespace + "/" + pod.Name}
	if pod.Spec.NodeName != "" {
		out = append(out, "node "+pod.Spec.NodeName)
	}
	for i := range pod.Spec.Containers {
		if c := &pod.Spec.Containers[i]; c.Name == container {
			out = append(out, "image "+c.Image)
		}
	}
	return out
}

// Look implements session.Looker.
func (p *Provider) Look(ctx context.Context, name string) (session.Status, error) {
	e, err := lookUp(ctx, p, name)
	if err == nil && e == nil {
		err = session.ErrNotFound
	}
	if err != nil {
		return session.Status{}, fmt.Errorf("cannot read the state of %q: %w", name, err)
	}
	p.mu.Lock()
	l, key := e.link, e.pod.Name
	p.mu.Unlock()
	if l != nil {
		p.refresh(ctx, key, l)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status(e), nil
}

// Check implements session.Checker. It checks the settings, the namespace, the permissions, that the city has
// no pods in a different location, and that no other controller runs the city.
func (p *Provider) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	probe := session.Spec{Name: "check", City: p.o.City, Dir: p.o.City, ID: "check"}
	pod, err := p.o.Settings.manifest(&probe)
	if err != nil {
		return session.Missing(err)
	}
	if err := checkLocation(ctx, p); err != nil {
		return err
	}
	pods := p.client.CoreV1().Pods(p.o.Settings.Namespace)
	few := metav1.ListOptions{Limit: 1, LabelSelector: labelCity}
	if _, err := pods.List(ctx, few); err != nil {
		return p.explain(err, "list")
	}
	if all := lacking(ctx, p); len(all) > 0 {
		return notAllowed(p.o.Settings.Namespace, all, nil)
	}
	dry := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	if _, err := pods.Create(ctx, pod, dry); err != nil {
		return p.explain(err, "create")
	}
	return checkLease(ctx, p)
}

func noteOf(pod *corev1.Pod) (note, error) {
	var n note
	err := json.Unmarshal([]byte(pod.Annotations[noteSpec]), &n)
	if err == nil && (n.Name == "" || n.ID == "") {
		err = fmt.Errorf("the annotation %s does not name a session", noteSpec)
	}
	return n, err
}
