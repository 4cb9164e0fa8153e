package cluster

import (
	"bytes"
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

// location is the cluster and the namespace in which a city's pods may run. A file in the city's folder contains it
// from before the first pod is created until there are no pods.
type location struct {
	Server    string `json:"server"` // URL of the API server
	Namespace string `json:"namespace"`
	Lease     string `json:"lease"` // UID of the city's Lease, which does not depend on the URL
}

func locationFile(city string) string { return filepath.Join(city, ".gc", "k8s.json") }

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

// checkLocation returns an error if the city's pods may run in a different location than the configured one. In this
// case, a list of the pods says nothing about the city's agents.
func checkLocation(ctx context.Context, p *Provider) error {
	path, namespace := locationFile(p.o.City), p.o.Settings.Namespace
	data, err := disk.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var old location
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
		"%s, but namespace %s of %s is configured; restore the previous settings, or delete %s if "+
		"no pods of this city are left there", old.Namespace, old.Server, namespace, p.config.Host,
		path))
}

// saveLocation writes the configured location to the file. It does not write to the disk if the file is up to date.
func saveLocation(ctx context.Context, p *Provider) error {
	uid, err := leaseUID(ctx, p)
	if err != nil {
		return err
	}
	data, err := json.Marshal(location{p.config.Host, p.o.Settings.Namespace, uid})
	if err != nil {
		return err
	}
	path := locationFile(p.o.City)
	if old, err := disk.ReadFile(path); err != nil || !bytes.Equal(old, data) {
		err := disk.MkdirIn(p.o.City, filepath.Dir(path), 0o700)
		if err == nil {
			err = disk.Save(path, data, 0o600)
		}
		if err != nil {
			return fmt.Errorf("cannot record where the city's pods run: %w", err)
		}
	}
	p.mu.Lock()
	p.saved = true
	p.mu.Unlock()
	return nil
}

// beginCreating saves the location of a new pod. The caller must call done when the pod is known or was not created.
func beginCreating(ctx context.Context, p *Provider) (done func(), err error) {
	p.mu.Lock()
	p.creating++
	saved := p.saved
	p.mu.Unlock()
	done = func() {
		p.mu.Lock()
		p.creating--
		p.mu.Unlock()
	}
	if saved {
		return done, nil
	}
	if err := saveLocation(ctx, p); err != nil {
		done()
		return nil, session.Missing(err) // nothing has run, so the failed start is not a crash
	}
	return done, nil
}

// updateLocation updates the file after the provider's first list of the pods.
func updateLocation(ctx context.Context, p *Provider, pods int) {
	p.mu.Lock()
	first := !p.located
	p.located = true
	p.mu.Unlock()
	if !first || p.o.Observe {
		return
	}
	if pods == 0 {
		removeLocation(p)
		return
	}
	if err := saveLocation(ctx, p); err != nil {
		p.o.Logger.Warn("cannot record where the city's pods run", "error", err)
	}
}

// removeLocation removes the file if the city has no pods.
func removeLocation(p *Provider) {
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
	p.saved = false
	if err := os.Remove(locationFile(p.o.City)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.o.Logger.Warn("cannot remove the record of where the city's pods run", "error", err)
	}
}
