package cluster

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"gcity/k8s/tunnel"
)

// maxFiles limits the size in bytes of a working folder that is copied into a pod.
const maxFiles = 64 << 20

var excludedFiles = []string{".gc", ".beads", ".git", "node_modules"}

// packing returns the function that packs the files of a working folder for a pod. If the folder in the pod is on a
// volume that outlives the pod, the function packs no files, because the agent may have changed those on the volume.
func packing(pod *corev1.Pod, dir string) func(io.Writer, string) error {
	if outlivesPod(pod, dir) {
		return func(to io.Writer, _ string) error { return tar.NewWriter(to).Close() }
	}
	return pack
}

// outlivesPod reports whether a folder in the agent's container is on a volume that Kubernetes does not create for this
// pod only.
func outlivesPod(pod *corev1.Pod, dir string) bool {
	var at corev1.VolumeMount // the innermost mount that contains the folder
	for i := range pod.Spec.Containers {
		if c := &pod.Spec.Containers[i]; c.Name == container {
			for _, m := range c.VolumeMounts {
				if within(m.MountPath, dir) && len(m.MountPath) > len(at.MountPath) {
					at = m
				}
			}
		}
	}
	for i := range pod.Spec.Volumes {
		if v := &pod.Spec.Volumes[i]; v.Name == at.Name {
			return v.EmptyDir == nil && v.Ephemeral == nil
		}
	}
	return false
}

// sendFiles creates the working folder in a pod and copies the files into it that the function pack packs.
func sendFiles(
	ctx context.Context,
	l *link,
	dir string,
	pack func(io.Writer, string) error,
) error {
	read, write := io.Pipe()
	go func() { write.CloseWithError(pack(write, dir)) }()
	defer read.Close()
	dial := func(context.Context, string, string) (net.Conn, error) { return l.mux.Open() }
	client := &http.Client{Transport: &http.Transport{
		DialContext:       dial,
		DisableKeepAlives: true,
	}}
	r, err := http.NewRequestWithContext(
		ctx,
		http.MethodPost,
		"http://pod"+tunnel.FilesPath+"?dir="+url.QueryEscape(dir),
		read,
	)
	if err != nil {
		return err
	}
	resp, err := client.Do(r)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok { // its URL means nothing to users
			err = u.Err
		}
		return fmt.Errorf("cannot copy the working folder into the pod: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
		return fmt.Errorf("%s", strings.TrimSpace(string(text)))
	}
	return nil
}

func pack(to io.Writer, dir string) error {
	out := tar.NewWriter(to)
	total := int64(0)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == dir:
			return nil
		case d.IsDir() && slices.Contains(excludedFiles, d.Name()):
			return fs.SkipDir
		case !d.IsDir() && !d.Type().IsRegular() && d.Type()&fs.ModeSymlink == 0:
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if d.Type().IsRegular() {
			if total += info.Size(); total > maxFiles {
				return fmt.Errorf(
					"the folder %s is larger than %d MiB; in the pod file, mount a volume "+
						"that contains its files at this path",
					dir,
					maxFiles>>20,
				)
			}
		}
		return add(out, dir, path, info)
	})
	if err != nil {
		return err
	}
	return out.Close()
}

func add(out *tar.Writer, dir, path string, info fs.FileInfo) error {
	link := ""
	if info.Mode()&fs.ModeSymlink != 0 {
		var err error
		if link, err = os.Readlink(path); err != nil {
			return err
		}
	}
	head, err := tar.FileInfoHeader(info, link)
	if err != nil {
		return err
	}
	if head.Name, err = filepath.Rel(dir, path); err != nil {
		return err
	}
	if err := out.WriteHeader(head); err != nil || !info.Mode().IsRegular() {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.CopyN(out, f, info.Size())
	return err
}
