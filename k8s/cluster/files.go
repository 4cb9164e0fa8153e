package cluster

import (
	"archive/tar"
	"context"
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

	"gcity/k8s/tunnel"
)

// maxFiles limits the size in bytes of a working folder that is copied into a pod.
const maxFiles = 64 << 20

var excludedFiles = []string{".gc", ".beads", ".git", "node_modules"}

func sendFiles(ctx context.Context, l *link, dir string) error {
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
					"the folder %s is larger than %d MiB; use a pod file to mount it as a volume",
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
