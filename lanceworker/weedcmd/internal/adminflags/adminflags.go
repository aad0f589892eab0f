// Package adminflags reads from the flags of a weed command where the admin
// server is that its worker talks to.
package adminflags

import (
	"net"
	"strconv"
	"strings"

	"github.com/seaweedfs/seaweedfs/weed/pb"
	flag "github.com/seaweedfs/seaweedfs/weed/util/fla9"
)

// OfWorker is what `weed worker` takes -admin for: its default when it is empty.
func OfWorker(flags *flag.FlagSet) string {
	admin := flags.Lookup("admin")
	if admin == nil {
		return ""
	}
	if address := strings.TrimSpace(admin.Value.String()); address != "" {
		return address
	}
	return admin.DefValue
}

// OfMini is where the admin server in a `weed mini` listens; "" when the flags
// don't tell. It is to be called when there is a worker that asks: until then mini may
// move ports that are taken, and writes that into its flags.
func OfMini(flags *flag.FlagSet) string {
	value := func(name string) string {
		if f := flags.Lookup(name); f != nil {
			return f.Value.String()
		}
		return ""
	}
	port, err := strconv.Atoi(value("admin.port"))
	if err != nil || port <= 0 {
		return ""
	}
	grpcPort, err := strconv.Atoi(value("admin.port.grpc"))
	if err != nil {
		return ""
	}
	return string(pb.NewServerAddress(localHost(value("admin.worker.ip")), port, grpcPort))
}

// localHost is where this process reaches what it serves on an address.
func localHost(bind string) string {
	bind = strings.Trim(bind, "[]")
	ip := net.ParseIP(bind)
	switch {
	case bind == "":
		return "127.0.0.1"
	case ip == nil || !ip.IsUnspecified():
		return bind
	case ip.To4() != nil:
		return "127.0.0.1"
	}
	return "::1"
}
