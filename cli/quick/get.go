package quick

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// Limits of a request. If a request exceeds a limit, package cli repeats it.
const (
	maxSeconds  = 2       // for each read and write
	maxResponse = 1 << 20 // in bytes
)

// get sends a GET request without package net, which is not initialized yet.
func get(socket, path string) (response []byte, err error) {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	limit := syscall.Timeval{Sec: maxSeconds}
	for _, option := range []int{syscall.SO_RCVTIMEO, syscall.SO_SNDTIMEO} {
		if err := syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, option, &limit); err != nil {
			return nil, err
		}
	}
	if err := syscall.Connect(fd, &syscall.SockaddrUnix{Name: socket}); err != nil {
		return nil, err
	}
	peer, err := syscall.GetsockoptUcred(fd, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	if err != nil {
		return nil, err
	}
	if int(peer.Uid) != os.Getuid() {
		return nil, errors.New("another user's process is listening on the socket")
	}
	request := "GET " + path + " HTTP/1.1\r\nHost: gcity\r\nConnection: close\r\n\r\n"
	if n, err := syscall.Write(fd, []byte(request)); err != nil || n < len(request) {
		return nil, errors.Join(err, io.ErrShortWrite)
	}
	buf := make([]byte, 16<<10)
	for {
		n, err := syscall.Read(fd, buf)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return response, nil
		}
		if response = append(response, buf[:n]...); len(response) > maxResponse {
			return nil, errors.New("the response is too long")
		}
	}
}
