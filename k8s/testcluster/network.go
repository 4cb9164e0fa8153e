package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"time"
)

const bridgeMAC = "02:00:0a:60:00:01" // locally administered; several clusters may have the same

// network is a bridge that connects the pods. The API server listens on its address, which is also the address of the
// Service "kubernetes". Pods therefore need no kube-proxy.
type network struct {
	bridge   string
	service  string // address of the API server
	services string // address range of Services
	gateway  string // address of the bridge in the pods' range
	pods     string
}

// Range of network numbers. Clusters on the same machine have different numbers.
const (
	firstNet = 96
	lastNet  = 127
)

func (c *cluster) network() network {
	base := fmt.Sprintf("10.%d.", c.ports.Net)
	return network{
		bridge:  fmt.Sprintf("gcity-kube%d", c.ports.Net),
		service: base + "0.1", services: base + "0.0/24",
		gateway: base + "1.1", pods: base + "1.0/24",
	}
}

func freeNetwork() (int, error) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return 0, err
	}
	used := map[byte]bool{}
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && n.IP.To4()[0] == 10 {
			used[n.IP.To4()[1]] = true
		}
	}
	for n := byte(firstNet); n <= lastNet; n++ {
		if !used[n] {
			return int(n), nil
		}
	}
	return 0, errors.New("no network from 10.96.0.0 to 10.127.0.0 is free")
}

func (n network) create(ctx context.Context) error {
	for _, line := range []string{
		// without an address of its own, a bridge takes that of a port; when this port goes, pods lose the API server
		"link add " + n.bridge + " address " + bridgeMAC + " type bridge",
		"addr add " + n.service + "/32 dev " + n.bridge,
		"addr add " + n.gateway + "/24 dev " + n.bridge,
		"link set " + n.bridge + " up",
	} {
		if err := ip(ctx, line); err != nil {
			return fmt.Errorf("cannot create the pod network: %w", err)
		}
	}
	return nil
}

func (n network) remove() error {
	if _, err := net.InterfaceByName(n.bridge); err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), partLimit)
	defer cancel()
	return ip(ctx, "link del "+n.bridge)
}

func ip(ctx context.Context, line string) error {
	cmd := exec.CommandContext(ctx, "ip", strings.Fields(line)...)
	cmd.WaitDelay = time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", line, err, tail(out))
	}
	return nil
}

func (c *cluster) cni() object {
	n := c.network()
	return object{"cniVersion": "0.4.0", "name": "pods", "plugins": []object{{
		"type": "bridge", "bridge": n.bridge,
		"ipam": object{
			"type": "host-local", "dataDir": c.path("cni-data"),
			"ranges": [][]object{{{"subnet": n.pods, "gateway": n.gateway}}},
			"routes": []object{{"dst": "0.0.0.0/0"}},
		},
	}}}
}
