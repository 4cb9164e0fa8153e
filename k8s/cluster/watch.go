package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

const (
	retryFirst = 200 * time.Millisecond
	retryLast  = 10 * time.Second
	// maximum duration of a watch
	longWatch = 30 * time.Minute
)

func (p *Provider) watch(ctx context.Context) {
	wait := retryFirst
	for ctx.Err() == nil {
		version, err := p.list(ctx)
		for err == nil {
			setUp(p)
			wait = retryFirst
			version, err = p.follow(ctx, version)
		}
		if ctx.Err() != nil {
			return
		}
		if !errors.Is(err, errExpired) {
			p.setDown(err, time.Now().Add(wait))
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
		wait = min(2*wait, retryLast)
	}
}

// errExpired means that a new list is necessary before the next watch.
var errExpired = errors.New("the watch has expired")

func setUp(p *Provider) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down != nil {
		p.o.Logger.Info("the state of the city's pods is known again")
		signal(p)
	}
	p.down, p.synced = nil, true
	p.changed()
}

func (p *Provider) setDown(err error, retry time.Time) {
	err = p.explain(err, "watch")
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lose(err, retry)
}

// lose records why the state of the pods is unknown. The next request will be sent at the retry time or earlier. The
// caller must hold mu.
func (p *Provider) lose(err error, retry time.Time) {
	if p.down == nil {
		p.since = time.Now()
		p.o.Logger.Warn("the state of the city's pods is unknown", "error", err)
	}
	p.down, p.synced, p.retry = err, false, retry
	signal(p)
	p.changed()
}

func (p *Provider) selector() string { return labelCity + "=" + cityLabel(p.o.City) }

func (p *Provider) list(ctx context.Context) (version string, err error) {
	if err := checkLocation(ctx, p); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	all, err := p.client.CoreV1().
		Pods(p.o.Settings.Namespace).
		List(ctx, metav1.ListOptions{LabelSelector: p.selector()})
	if err != nil {
		return "", err
	}
	defer updateLocation(ctx, p, len(all.Items))
	p.mu.Lock()
	defer p.mu.Unlock()
	there := map[string]bool{}
	for i := range all.Items {
		there[all.Items[i].Name] = true
		p.saw(&all.Items[i])
	}
	for name, e := range p.pods {
		if !there[name] {
			p.removed(e)
		}
	}
	return all.ResourceVersion, nil
}

// follow watches the pods from the given version on. It returns the version from which to continue.
func (p *Provider) follow(ctx context.Context, version string) (string, error) {
	seconds := int64(longWatch.Seconds())
	w, err := p.client.CoreV1().Pods(p.o.Settings.Namespace).Watch(ctx, metav1.ListOptions{
		LabelSelector: p.selector(), ResourceVersion: version, AllowWatchBookmarks: true,
		TimeoutSeconds: &seconds,
	})
	if err != nil {
		return "", err
	}
	defer w.Stop()
	began := time.Now()
	for event := range w.ResultChan() {
		pod, ok := event.Object.(*corev1.Pod)
		switch {
		case event.Type == watch.Error:
			return "", errExpired
		case !ok:
			continue
		}
		version = pod.ResourceVersion
		p.mu.Lock()
		switch event.Type {
		case watch.Added, watch.Modified:
			p.saw(pod)
		case watch.Deleted:
			if e := p.pods[pod.Name]; e != nil && e.pod.UID == pod.UID {
				e.pod = pod
				p.removed(e)
			}
		}
		p.mu.Unlock()
	}
	if ctx.Err() == nil && time.Since(began) < time.Second {
		return "", fmt.Errorf("the watch for pods ended immediately")
	}
	return version, ctx.Err()
}

// saw records the current state of a pod. The caller must hold mu.
func (p *Provider) saw(pod *corev1.Pod) {
	n, err := noteOf(pod)
	if err != nil || n.City != p.o.City || podName(n.City, n.Name) != pod.Name {
		return // another program has created a pod with these labels
	}
	e := p.pods[pod.Name]
	if e == nil || e.pod.UID != pod.UID {
		if e != nil && e.exit == nil {
			p.lost(e, "the pod was replaced")
		}
		e = &entry{note: n, silent: time.Now()}
		p.pods[pod.Name] = e
	}
	e.pod = pod
	if pod.DeletionTimestamp != nil && e.deletionSeen.IsZero() {
		e.deletionSeen = time.Now()
	}
	askToFinish(p, e)
	if over(pod) && e.exit == nil {
		p.lost(e, "")
	}
	if t := p.term; runs(pod) && !e.worker && e.exit == nil && t != nil {
		e.worker = true
		t.wg.Go(func() { p.keep(t.ctx, e) })
	}
	p.changed()
}

// removed records that a pod was deleted. The caller must hold mu.
func (p *Provider) removed(e *entry) {
	if e.gone {
		return
	}
	e.gone = true
	p.lost(e, "the pod was deleted")
	p.changed()
}
