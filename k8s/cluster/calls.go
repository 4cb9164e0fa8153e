package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"gcity/session"
)

// patience is how long a pod may take to start running. It is shorter than the controller's limit, so that the
// controller still receives the reason.
const patience = 5 * time.Minute

var (
	_ session.Provider     = (*Provider)(nil)
	_ session.Notifier     = (*Provider)(nil)
	_ session.Attacher     = (*Provider)(nil)
	_ session.Watcher      = (*Provider)(nil)
	_ session.Keyer        = (*Provider)(nil)
	_ session.PoliteSender = (*Provider)(nil)
	_ session.Looker       = (*Provider)(nil)
	_ session.Patient      = (*Provider)(nil)
	_ session.Marker       = (*Provider)(nil)
	_ session.Clearer      = (*Provider)(nil)
	_ session.Capturer     = (*Provider)(nil)
	_ session.Checker      = (*Provider)(nil)
	_ session.Acknowledger = (*Provider)(nil)
	_ session.Meter        = (*Provider)(nil)
	_ session.Limiter      = (*Provider)(nil)
)

// Patience implements session.Patient.
func (*Provider) Patience(string) time.Duration { return patience }

// Limits implements session.Limiter.
func (*Provider) Limits() session.Limits {
	return session.Limits{Lacks: []session.Ability{session.InheritingEnvironment},
		Why: "agents run in pods"}
}

// Start implements session.Provider.
func (p *Provider) Start(ctx context.Context, s session.Spec) (session.Status, error) {
	if err := p.clear(ctx, s.Name); err != nil {
		return session.Status{}, err
	}
	pod, err := p.o.Settings.manifest(&s)
	if err != nil {
		return session.Status{}, session.Missing(err)
	}
	done, err := beginCreating(ctx, p)
	if err != nil {
		return session.Status{}, fmt.Errorf("cannot start %q: %w", s.Name, err)
	}
	defer done()
	pods := p.client.CoreV1().Pods(p.o.Settings.Namespace)
	limit, cancel := context.WithTimeout(ctx, callLimit)
	made, err := pods.Create(limit, pod, metav1.CreateOptions{})
	cancel()
	switch {
	case apierrors.IsAlreadyExists(err):
		return session.Status{}, fmt.Errorf(
			"cannot start %q, because its pod %s already exists: %w",
			s.Name,
			pod.Name,
			session.ErrExists,
		)
	case err != nil:
		return session.Status{}, fmt.Errorf(
			"cannot start %q: %w",
			s.Name,
			p.explain(err, "create"),
		)
	}
	p.mu.Lock()
	// if the pod is known, the watch has already reported newer data
	if e := p.pods[made.Name]; e == nil || e.pod.UID != made.UID {
		p.saw(made)
	}
	p.pods[made.Name].starting = true
	p.mu.Unlock()
	st, err := p.startAgent(ctx, made, s)
	if err != nil {
		p.deletePod(made)
		return session.Status{}, err
	}
	return st, nil
}

func (p *Provider) clear(ctx context.Context, name string) error {
	if err := p.mayChange(ctx); err != nil {
		return fmt.Errorf("cannot start %q: %w", name, err)
	}
	p.mu.Lock()
	e := p.find(name)
	switch {
	case e == nil:
		p.mu.Unlock()
		return nil
	case e.exit == nil:
		p.mu.Unlock()
		return fmt.Errorf(
			"cannot start %q, because its pod %s already exists: %w",
			name,
			e.pod.Name,
			session.ErrExists,
		)
	}
	pod := e.pod
	p.mu.Unlock()
	began, _, _, deleted := terminating(pod)
	if !deleted {
		began = time.Now()
	}
	session.Progress(ctx, fmt.Sprintf("waiting until the pod %s of its previous session has "+
		"ended; it has been terminating since %s", pod.Name, began.Local().Format(time.TimeOnly)))
	return p.delete(ctx, pod)
}

func (p *Provider) delete(ctx context.Context, pod *corev1.Pod) error {
	if err := p.mayChange(ctx); err != nil {
		return fmt.Errorf("cannot delete the pod %s: %w", pod.Name, err)
	}
	now := int64(1)
	limit, cancel := context.WithTimeout(ctx, callLimit)
	err := p.client.CoreV1().Pods(pod.Namespace).Delete(limit, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &pod.UID},
	})
	cancel()
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf(
			"cannot delete the pod %s: %w",
			pod.Name,
			p.explain(err, "delete"),
		)
	}
	err = p.await(ctx, func() bool {
		e := p.pods[pod.Name]
		return e == nil || e.pod.UID != pod.UID || e.gone
	})
	if err != nil {
		return fmt.Errorf("the pod %s is still terminating: %w", pod.Name, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.pods[pod.Name]; e != nil && e.pod.UID == pod.UID {
		delete(p.pods, pod.Name)
		p.changed()
	}
	return nil
}

func (p *Provider) deletePod(pod *corev1.Pod) {
	ctx, cancel := context.WithTimeout(context.Background(), graceSeconds*time.Second)
	defer cancel()
	p.mu.Lock()
	if e := p.pods[pod.Name]; e != nil && e.pod.UID == pod.UID {
		// an empty exit, because Start itself returns the error
		p.end(e, session.Exit{})
	}
	p.mu.Unlock()
	err := p.delete(ctx, pod)
	if err == nil {
		return
	}
	p.o.Logger.Warn("cannot delete the pod after a failed start", "pod", pod.Name, "error", err)
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.pods[pod.Name]
	if e == nil || e.pod.UID != pod.UID {
		return
	}
	// List shows the session as stopped from now on, so that Acknowledge deletes the pod. The agent may still be
	// running, but as long as the pod exists, the session cannot start again.
	e.starting = false
	e.exit = &session.Exit{Name: e.note.Name, Agent: e.note.Agent, ID: e.note.ID, Code: -1,
		Asked: true, Reason: "its start failed", At: time.Now()}
	p.changed()
}

func (p *Provider) startAgent(
	ctx context.Context,
	made *corev1.Pod,
	s session.Spec,
) (session.Status, error) {
	starting, started := context.WithTimeout(ctx, p.o.StartLimit)
	go followEvents(starting, p, made)
	l, why, final, err := awaitPod(starting, p, made)
	started()
	switch { // without an open stream, the agent has not started
	case l != nil && !final:
	case final:
		return session.Status{}, session.Missing(
			fmt.Errorf("cannot start %q in pod %s: %s", s.Name, made.Name, why),
		)
	case why != "":
		return session.Status{}, session.Missing(
			fmt.Errorf("cannot start %q, because its pod %s is not ready: %s", s.Name,
				made.Name, why),
		)
	default:
		return session.Status{}, session.Missing(
			fmt.Errorf("cannot start %q, because its pod %s is not ready: %w", s.Name,
				made.Name, err),
		)
	}
	if err := sendFiles(ctx, l, s.Dir, packing(made, s.Dir)); err != nil {
		return session.Status{}, fmt.Errorf(
			"cannot start %q: %w",
			s.Name,
			session.Unfit("%w", err),
		)
	}
	st, err := l.Start(ctx, s)
	if err != nil {
		return session.Status{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.pods[made.Name]
	if e == nil {
		return st, nil
	}
	p.heard(e, &st)
	if e.starting = false; e.exit != nil { // the agent has already exited
		p.report(*e.exit)
	}
	p.changed() // Stop might be waiting
	return p.status(e), nil
}

// awaitPod waits for the stream to a new pod. final is true if the pod will never run.
func awaitPod(
	ctx context.Context,
	p *Provider,
	made *corev1.Pod,
) (l *link, why string, final bool, err error) {
	for told := ""; ; {
		now := ""
		err = p.await(ctx, func() bool {
			e := p.pods[made.Name]
			switch {
			case e == nil || e.pod.UID != made.UID || e.gone || e.exit != nil:
				why, final = "the pod has ended", true
				if e != nil && e.exit != nil && e.exit.Reason != "" {
					why = e.exit.Reason
				}
				return true
			default:
				why, final = e.waiting()
			}
			now, l = cmp.Or(why, progress(e.pod)), e.link
			return final || l != nil || now != told
		})
		if err != nil || final || l != nil {
			return l, why, final, err
		}
		told = now
		session.Progress(ctx, "pod "+made.Name+": "+now)
	}
}

// Interrupt implements session.Provider.
func (p *Provider) Interrupt(ctx context.Context, name string) error {
	l, err := p.livingLink(ctx, "interrupt", name)
	if err != nil {
		return err
	}
	return l.Interrupt(ctx, name)
}

// Stop implements session.Provider.
func (p *Provider) Stop(ctx context.Context, name string, grace time.Duration) error {
	e, err := lookUp(ctx, p, name)
	if err != nil {
		return fmt.Errorf("cannot stop %q: %w", name, err)
	}
	p.mu.Lock()
	if e == nil || !e.alive() {
		p.mu.Unlock()
		return nil
	}
	e.asked = true
	l, pod, ended := e.link, e.pod, e.exit != nil
	p.mu.Unlock()
	switch {
	case session.Forced(ctx):
		return giveUp(ctx, p, pod)
	case l == nil || ended:
		return p.stopPod(ctx, pod, grace)
	}
	if err := l.Stop(ctx, name, grace); err != nil {
		return err
	}
	return awaitEnd(ctx, p, pod)
}

func (p *Provider) stopPod(ctx context.Context, pod *corev1.Pod, grace time.Duration) error {
	if err := p.mayChange(ctx); err != nil {
		return fmt.Errorf("cannot delete the pod %s: %w", pod.Name, err)
	}
	seconds := int64(max(1, grace.Seconds()))
	return remove(ctx, p, pod, metav1.DeleteOptions{
		GracePeriodSeconds: &seconds, Preconditions: &metav1.Preconditions{UID: &pod.UID},
	})
}

// remove deletes a pod and waits until it no longer exists.
func remove(ctx context.Context, p *Provider, pod *corev1.Pod, how metav1.DeleteOptions) error {
	err := p.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, how)
	if err != nil && !apierrors.IsNotFound(err) {
		return p.explain(err, "delete")
	}
	return awaitEnd(ctx, p, pod)
}

// awaitEnd waits until the session of a pod no longer counts as running.
func awaitEnd(ctx context.Context, p *Provider, pod *corev1.Pod) error {
	return p.await(ctx, func() bool {
		e := p.pods[pod.Name]
		return e == nil || e.pod.UID != pod.UID || !e.alive()
	})
}

// Acknowledge implements session.Acknowledger. It deletes the pod of an ended session.
func (p *Provider) Acknowledge(ctx context.Context, name, id string) error {
	e, err := lookUp(ctx, p, name)
	if err != nil {
		return fmt.Errorf("cannot delete the pod of %q: %w", name, err)
	}
	p.mu.Lock()
	if e == nil || e.note.ID != id || e.exit == nil {
		p.mu.Unlock()
		return nil
	}
	pod := e.pod
	p.mu.Unlock()
	return p.delete(ctx, pod)
}

// Send implements session.Provider.
func (p *Provider) Send(ctx context.Context, name, text string) error {
	l, err := p.livingLink(ctx, "type into", name)
	if err != nil {
		return err
	}
	return l.typed(l.Send(ctx, name, text))
}

// SendPolitely implements session.PoliteSender.
func (p *Provider) SendPolitely(ctx context.Context, name, text string, quiet time.Duration) error {
	l, err := p.livingLink(ctx, "type into", name)
	if err != nil {
		return err
	}
	return l.typed(l.SendPolitely(ctx, name, text, quiet))
}

// SendKeys implements session.Keyer.
func (p *Provider) SendKeys(ctx context.Context, name string, keys ...string) error {
	l, err := p.livingLink(ctx, "send keys to", name)
	if err != nil {
		return err
	}
	return l.SendKeys(ctx, name, keys...)
}

// Output implements session.Provider.
func (p *Provider) Output(ctx context.Context, name string, lines int) (string, error) {
	if err := checkStream(ctx, p, "read the output of", name); err != nil {
		return "", err
	}
	l, err := p.linkOf(ctx, "read the output of", name)
	if err != nil {
		return "", err
	}
	return l.Output(ctx, name, lines)
}

// Attach implements session.Attacher.
func (p *Provider) Attach(
	ctx context.Context,
	name string,
	cols, rows int,
) (session.Terminal, error) {
	if err := checkStream(ctx, p, "attach to", name); err != nil {
		return nil, err
	}
	l, err := p.livingLink(ctx, "attach to", name)
	if err != nil {
		return nil, err
	}
	return l.Attach(ctx, name, cols, rows)
}

// Watch implements session.Watcher.
func (p *Provider) Watch(ctx context.Context, name string) iter.Seq2[session.Frame, error] {
	return func(yield func(session.Frame, error) bool) {
		if err := checkStream(ctx, p, "watch", name); err != nil {
			yield(session.Frame{}, err)
			return
		}
		l, err := p.linkOf(ctx, "watch", name)
		if err != nil {
			yield(session.Frame{}, err)
			return
		}
		l.Watch(ctx, name)(yield)
	}
}

// SetMeta implements session.Marker.
func (p *Provider) SetMeta(ctx context.Context, name, key, value string) error {
	l, err := p.livingLink(ctx, "mark", name)
	if err != nil {
		return err
	}
	return l.SetMeta(ctx, name, key, value)
}

// Meta implements session.Marker.
func (p *Provider) Meta(ctx context.Context, name, key string) (string, error) {
	l, err := p.livingLink(ctx, "read the metadata of", name)
	if err != nil {
		return "", err
	}
	return l.Meta(ctx, name, key)
}

// Clear implements session.Clearer.
func (p *Provider) Clear(ctx context.Context, name string) error {
	l, err := p.livingLink(ctx, "clear the output of", name)
	if err != nil {
		return err
	}
	return l.Clear(ctx, name)
}

// Capture implements session.Capturer.
func (p *Provider) Capture(ctx context.Context, name, id string) ([]byte, error) {
	p.mu.Lock()
	for _, o := range p.keptOf(name, p.find(name)) {
		if o.id == id {
			p.mu.Unlock()
			return o.data, nil
		}
	}
	p.mu.Unlock()
	e, err := lookUp(ctx, p, name)
	if err != nil {
		return nil, fmt.Errorf("cannot read the output of %q: %w", name, err)
	}
	if e == nil || e.note.ID != id {
		return nil, fmt.Errorf(
			"the output of the requested session of %q is no longer available: %w",
			name,
			session.ErrNotFound,
		)
	}
	l, err := p.linkOf(ctx, "read the output of", name)
	if err != nil {
		return nil, err
	}
	return l.Capture(ctx, name, id)
}

// Usage implements session.Meter. Each pod measures its own processes.
func (p *Provider) Usage(ctx context.Context) (map[string]session.Usage, error) {
	p.mu.Lock()
	links := map[string]*link{}
	for _, e := range p.pods {
		if e.link != nil && e.exit == nil {
			links[e.note.Name] = e.link
		}
	}
	p.mu.Unlock()
	type answer struct {
		usage map[string]session.Usage
		err   error
	}
	answers := make(chan answer, len(links))
	for _, l := range links {
		go func() {
			usage, err := l.Usage(ctx)
			answers <- answer{usage, err}
		}()
	}
	out := map[string]session.Usage{}
	var failed error
	for range links {
		a := <-answers
		failed = errors.Join(failed, a.err)
		for name, u := range a.usage {
			out[name] = u
		}
	}
	if len(out) == 0 {
		return out, failed
	}
	return out, nil
}
