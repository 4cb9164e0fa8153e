// Package image writes container images without a container engine. An image has one layer.
package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"time"
)

// Image describes a container image.
type Image struct {
	Name  string // name with tag: "example.org/gcity-pod:1"
	Arch  string // architecture of the image's programs; "" = that of this program
	Cmd   []string
	Files []File
}

// File is an entry of an image. Parent folders must come first.
type File struct {
	Path string // path relative to the root, for example "bin/tool"
	Mode int64
	Dir  bool
	Link string // target of a symbolic link; "" = a regular file
	Data []byte
}

// FromDisk returns an executable File with the content of a program on this machine.
func FromDisk(path, program string) (File, error) {
	data, err := os.ReadFile(program)
	if err != nil {
		return File{}, fmt.Errorf("cannot read a program for the image: %w", err)
	}
	return File{Path: path, Mode: 0o755, Data: data}, nil
}

type config struct {
	Architecture string          `json:"architecture"`
	OS           string          `json:"os"`
	Config       containerConfig `json:"config"`
	RootFS       rootFS          `json:"rootfs"`
	History      []history       `json:"history"`
}

type containerConfig struct {
	Cmd []string `json:"Cmd,omitempty"`
	Env []string `json:"Env"`
}

type rootFS struct {
	Type    string   `json:"type"`
	DiffIDs []string `json:"diff_ids"`
}

type history struct {
	CreatedBy string `json:"created_by"`
}

type manifest struct {
	Config   string
	RepoTags []string
	Layers   []string
}

// Write writes the archive. Equal images result in identical bytes.
func Write(to io.Writer, im *Image) error {
	var layer bytes.Buffer
	if err := writeLayer(&layer, im.Files); err != nil {
		return err
	}
	sum := sha256.Sum256(layer.Bytes())
	digest := hex.EncodeToString(sum[:])
	arch := im.Arch
	if arch == "" {
		arch = runtime.GOARCH
	}
	conf, err := json.Marshal(config{
		Architecture: arch, OS: "linux",
		Config: containerConfig{
			Cmd: im.Cmd, Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"},
		},
		RootFS:  rootFS{Type: "layers", DiffIDs: []string{"sha256:" + digest}},
		History: []history{{CreatedBy: "gcity"}},
	})
	if err != nil {
		return err
	}
	list, err := json.Marshal([]manifest{{
		Config: "config.json", RepoTags: []string{im.Name}, Layers: []string{digest + "/layer.tar"},
	}})
	if err != nil {
		return err
	}
	packed, err := compress(layer.Bytes())
	if err != nil {
		return err
	}
	out := tar.NewWriter(to)
	return errors.Join(
		add(out, File{Path: "config.json", Mode: 0o644, Data: conf}),
		add(out, File{Path: "manifest.json", Mode: 0o644, Data: list}),
		add(out, File{Path: digest, Mode: 0o755, Dir: true}),
		add(out, File{Path: digest + "/layer.tar", Mode: 0o644, Data: packed}),
		out.Close(),
	)
}

// compress compresses a layer. Container engines identify a layer by its uncompressed content.
func compress(data []byte) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(data)
	err = errors.Join(err, w.Close())
	return out.Bytes(), err
}

func writeLayer(to io.Writer, files []File) error {
	out := tar.NewWriter(to)
	files = slices.SortedFunc(slices.Values(files), func(a, b File) int {
		return bytes.Compare([]byte(a.Path), []byte(b.Path))
	})
	for _, f := range files {
		if err := add(out, f); err != nil {
			return err
		}
	}
	return out.Close()
}

func add(out *tar.Writer, f File) error {
	head := &tar.Header{
		Name: f.Path, Mode: f.Mode, Size: int64(len(f.Data)), ModTime: time.Unix(0, 0),
		Typeflag: tar.TypeReg, Format: tar.FormatPAX,
	}
	switch {
	case f.Dir:
		head.Typeflag, head.Name = tar.TypeDir, f.Path+"/"
	case f.Link != "":
		head.Typeflag, head.Linkname = tar.TypeSymlink, f.Link
	}
	if err := out.WriteHeader(head); err != nil {
		return fmt.Errorf("cannot write %s into the image: %w", f.Path, err)
	}
	_, err := out.Write(f.Data)
	return err
}
