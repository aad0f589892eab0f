package cluster

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

// Ports are taken from a range that, together with the gRPC ports above them,
// lies below where systems draw the source ports of outgoing connections.
const (
	firstPort = 10000
	lastPort  = 32768 - grpcOffset - 1
)

// wellKnown are ports that a mini or server listens on by default; a flag that
// a cluster does not set must not meet a port that was given to another.
var wellKnown = map[int]bool{9333: true, 19333: true, 8888: true, 18888: true, 9340: true, 19340: true, 8333: true, 18333: true, 8181: true, 9101: true, 7333: true, 12535: true, 22535: true, 8080: true, 18080: true}

// ports are the ports of one cluster. Each is kept from other clusters, also
// those of other processes, by holding the UDP port of the same number: no
// server here uses UDP, and the system gives it back when a process dies.
type ports struct {
	held []net.PacketConn
}

// reserve finds a port that is free together with its gRPC port.
func (p *ports) reserve() (int, error) {
	const tries = 1000
	for range tries {
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		if wellKnown[port] || wellKnown[port+grpcOffset] {
			continue
		}
		hold, err := net.ListenPacket("udp4", address(port))
		if err != nil {
			continue
		}
		if !free(port) || !free(port+grpcOffset) {
			hold.Close()
			continue
		}
		p.held = append(p.held, hold)
		return port, nil
	}
	return 0, fmt.Errorf("finding a free port of %s between %d and %d: none in %d tries", Host, firstPort, lastPort, tries)
}

// free tells whether a server could listen on the port, on any address.
func free(port int) bool {
	l, err := net.Listen("tcp", ":"+strconv.Itoa(port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

func (p *ports) release() {
	for _, h := range p.held {
		h.Close()
	}
	p.held = nil
}

// removeSockets takes away the sockets that weed's servers open in /tmp beside
// their ports, and that a killed server leaves there.
func (c *Cluster) removeSockets() {
	for _, port := range []int{c.master, c.volume, c.filer, c.s3, c.admin} {
		for _, p := range []int{port, port + grpcOffset} {
			// The names are ours as long as the port is; a pattern that is
			// malformed is the only error there could be.
			names, _ := filepath.Glob(fmt.Sprintf("/tmp/seaweedfs-*-%d.sock", p))
			for _, name := range names {
				os.Remove(name)
			}
		}
	}
}
