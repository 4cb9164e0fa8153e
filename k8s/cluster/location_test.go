package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"gcity/session"
)

// inLocation returns a provider of a cluster in which the city's Lease has the given UID, and that has no pods.
func inLocation(t *testing.T, city, namespace, uid string) *Provider {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/pods") {
			fmt.Fprint(w, `{"kind": "PodList", "apiVersion": "v1", "items": []}`)
			return
		}
		fmt.Fprintf(w, `{"kind": "Lease", "apiVersion": "coordination.k8s.io/v1", "metadata": {"uid": %q}}`, uid)
	}))
	t.Cleanup(server.Close)
	p, _ := unreachable(t)
	p.pods = map[string]*entry{}
	p.o.City, p.o.Settings.Namespace = city, namespace
	p.config = &rest.Config{Host: server.URL}
	client, err := kubernetes.NewForConfig(p.config)
	if err != nil {
		t.Fatal(err)
	}
	p.client = client
	return p
}

// If a city's agents may still be running in a different location, List does not report that they do not exist (L11).
func TestOtherLocation(t *testing.T) {
	for _, test := range []struct {
		name, namespace, uid string
		sameURL              bool
		allowed              bool
	}{
		{name: "the same location", namespace: "gc", uid: "1", sameURL: true, allowed: true},
		{name: "a new address of the same cluster", namespace: "gc", uid: "1", allowed: true},
		{name: "a new Lease", namespace: "gc", uid: "2", sameURL: true, allowed: true},
		{name: "another namespace", namespace: "work", uid: "2", sameURL: true},
		{name: "another cluster", namespace: "gc", uid: "2"},
	} {
		city := t.TempDir()
		old := inLocation(t, city, "gc", "1")
		if err := checkLocation(t.Context(), old); err != nil {
			t.Errorf("%s: without a record: %v", test.name, err)
		}
		if err := saveLocation(t.Context(), old); err != nil {
			t.Fatal(err)
		}
		p := inLocation(t, city, test.namespace, test.uid)
		if test.sameURL {
			p.config = old.config
		}
		checked := p.Check(t.Context())
		_, err := p.list(t.Context())
		if test.allowed {
			if err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
			continue
		}
		here := fmt.Sprintf("but namespace %s of %s is configured", test.namespace, p.config.Host)
		if !errors.Is(err, session.ErrMissing) || !strings.Contains(err.Error(), here) ||
			!strings.Contains(err.Error(), "may still be running in namespace gc of "+old.config.Host) {
			t.Errorf("%s: %v", test.name, err)
		} else if checked == nil || checked.Error() != err.Error() {
			t.Errorf("%s: Check: %v", test.name, checked)
		}
	}
}

// If the file is damaged, the pods are not listed. If the location cannot be saved, no agent starts, and the failed
// start is not a crash.
func TestUnusableLocation(t *testing.T) {
	p := inLocation(t, t.TempDir(), "gc", "1")
	if err := saveLocation(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(locationFile(p.o.City), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.list(t.Context()); !errors.Is(err, session.ErrMissing) {
		t.Errorf("damaged file: %v", err)
	}
	p = inLocation(t, t.TempDir(), "gc", "1")
	if err := os.WriteFile(filepath.Join(p.o.City, ".gc"), nil, 0o600); err != nil { // not a folder
		t.Fatal(err)
	}
	if _, err := beginCreating(t.Context(), p); !errors.Is(err, session.ErrMissing) || p.creating != 0 {
		t.Errorf("no folder for the file: %v, creating %d pods", err, p.creating)
	}
}

// A start needs no space on the disk if the file is up to date.
func TestUnchangedLocation(t *testing.T) {
	p := inLocation(t, t.TempDir(), "gc", "1")
	var files [2]fs.FileInfo
	for i := range files {
		if err := saveLocation(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		var err error
		if files[i], err = os.Stat(locationFile(p.o.City)); err != nil {
			t.Fatal(err)
		}
	}
	if !os.SameFile(files[0], files[1]) {
		t.Error("the file was replaced")
	}
}

// The location is recorded as long as the city may have pods there.
func TestSavedLocation(t *testing.T) {
	_, e := unreachable(t)
	p := inLocation(t, t.TempDir(), "gc", "1")
	p.stop, p.done, p.synced = func() {}, make(chan struct{}), true
	close(p.done)
	recorded := func() bool {
		_, err := os.Stat(locationFile(p.o.City))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return err == nil
	}
	created, err := beginCreating(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if p.Close(); !recorded() {
		t.Error("not recorded while a pod is being created")
	}
	p.pods[e.pod.Name] = e
	created()
	if p.Close(); !recorded() {
		t.Error("not recorded while a pod exists")
	}
	e.gone = true
	if p.Close(); recorded() {
		t.Error("recorded although no pod exists")
	}
	if err := saveLocation(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if _, err := p.list(t.Context()); err != nil || recorded() {
		t.Errorf("recorded although the first list contains no pods: %v", err)
	}
}
