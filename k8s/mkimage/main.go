// Mkimage writes a container image without a container engine:
//
//	go run ./mkimage NAME:TAG FILE PATH=PROGRAM…
//
// "ctr images import FILE", "podman load -i FILE" and "docker load -i FILE" can load the image.
package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"gcity/k8s/image"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "mkimage:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 3 {
		return errors.New("usage: mkimage NAME:TAG FILE PATH=PROGRAM…, such as " +
			"registry.example/gcity-pod:1 gcity-pod.tar gcity-pod=bin/gcity-pod " +
			"bin/gcity=bin/gcity")
	}
	im := &image.Image{Name: args[0], Arch: os.Getenv("GOARCH")}
	seen := map[string]bool{".": true}
	for _, arg := range args[2:] {
		to, program, ok := strings.Cut(arg, "=")
		to = strings.TrimPrefix(path.Clean(to), "/")
		if !ok || to == "" {
			return fmt.Errorf("%q is not PATH=PROGRAM", arg)
		}
		if dir := path.Dir(to); !seen[dir] {
			seen[dir] = true
			im.Files = append(im.Files, image.File{Path: dir, Dir: true, Mode: 0o755})
		}
		f, err := image.FromDisk(to, program)
		if err != nil {
			return err
		}
		im.Files = append(im.Files, f)
	}
	out, err := os.Create(args[1])
	if err != nil {
		return err
	}
	return errors.Join(image.Write(out, im), out.Close())
}
