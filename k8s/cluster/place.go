package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"gcity/internal/disk"
	"gcity/session"
)

// place is the namespace in which a city's pods may run. A file in the city's folder contains it from before the first
// pod is created until there are no pods.
type place struct {
	Server    string `json:"server"` // URL of the API server
	Namespace string `json:"namespace"`
	Lease     string `json:"lease"` // UID of the city's Lease, which does not depend on the URL
}

func placeFile(city string) string { return filepath.Join(city, ".gc", "k8s.json") }

// leaseUID returns the UID of the city's Lease, or "" if the Lease does not exist.
func leaseUID(ctx context.Context, p *Provider) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	lease, err := p.client.CoordinationV1().Leases(p.o.Settings.Namespace).
		Get(ctx, leaseName(p.o.City), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return "", nil
	case err != nil:
		return "", p.explain(err, "get")
	}
	return string(lease.UID), nil
}

// confirmPlace returns an error if the city's pods may run in a different place than the configured one. In this case,
// a list of the pods says nothing about the city's agents.
func confirmPlace(ctx context.Context, p *Provider) error {
	path, namespace := placeFile(p.o.City), p.o.Settings.Namespace
	data, err := disk.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var old place
	if err == nil {
		err = json.Unmarshal(data, &old)
	}
	switch {
	case err != nil:
		return session.Missing(fmt.Errorf("cannot read where the city's pods run: %w; delete %s "+
			"if no pods of this city are running in a different cluster or namespace", err, path))
	case old.Server == p.config.Host && old.Namespace == namespace:
		return nil
	}
	uid, err := leaseUID(ctx, p)
	if err != nil {
		return err
	}
	if uid != "" && uid == old.Lease { // the cluster has a new address
		return nil
	}
	return session.Missing(fmt.Errorf("the city's agents may still be running in namespace %s of "+
		"%s, but namespace %s of %s is configured; restore the previous settings, or delete the "+
		"pods there and then the file %s", old.Namespace, old.Server, namespace, p.config.Host,
		path))
}

// recordPlace records that pods of the city may run in the configured place.
func recordPlace(ctx context.Context, p *Provider) error {
	uid, err := leaseUID(ctx, p)
	if err != nil {
		return err
	}
	data, err := json.Marshal(place{p.config.Host, p.o.Settings.Namespace, uid})
	if err != nil {
		return err
	}
	path := placeFile(p.o.City)
	if err := disk.MkdirIn(p.o.City, filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := disk.Save(path, data, 0o600); err != nil {
		return fmt.Errorf("cannot record where the city's pods run: %w", err)
	}
	p.mu.Lock()
	p.recorded = true
	p.mu.Unlock()
	return nil
}

// beginCreating records the place of a new pod. The caller must call done when the pod is known or was not created.
func beginCreating(ctx context.Context, p *Provider) (done func(), err error) {
	p.mu.Lock()
	p.creating++
	recorded := p.recorded
	p.mu.Unlock()
	done = func() {
		p.mu.Lock()
		p.creating--
		p.mu.Unlock()
	}
	if recorded {
		return done, nil
	}
	if err := recordPlace(ctx, p); err != nil {
		done()
		return nil, err
	}
	return done, nil
}

// settlePlace updates the recorded place after the provider's first list of the pods.
func settlePlace(ctx context.Context, p *Provider, pods int) {
	p.mu.Lock()
	first := !p.settled
	p.settled = true
	p.mu.Unlock()
	if !first || p.o.Observe {
		return
	}
	if pods == 0 {
		forgetPlace(p)
		return
	}
	if err := recordPlace(ctx, p); err != nil {
		p.o.Logger.Warn("cannot record where the city's pods run", "error", err)
	}
}

// forgetPlace removes the recorded place if the city has no pods there.
func forgetPlace(p *Provider) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.creating > 0 {
		return
	}
	for _, e := range p.pods {
		if !e.gone {
			return
		}
	}
	p.recorded = false
	if err := os.Remove(placeFile(p.o.City)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.o.Logger.Warn("cannot remove the record of where the city's pods run", "error", err)
	}
}
