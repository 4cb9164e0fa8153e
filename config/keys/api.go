package keys

import (
	"fmt"
	"net/netip"
	"strings"
)

const localhost = "localhost"

func apiKeys() []Key {
	return []Key{
		{Path: "api", Kind: Table, Doc: "The HTTP API on a TCP port, for programs and web pages " +
			"that cannot use the city's socket. [api.md](api.md) describes requests and limits. " +
			"A change takes effect immediately and closes the connections to the port. A city " +
			"under a supervisor ignores this table, because the supervisor has one port for all " +
			"cities."},
		{Path: "api.port", Kind: Int, Def: "0",
			Within: within(0, 65535, "use a port from 1 to 65535, or 0 for none"),
			Doc:    "The TCP port. 0 = no port: the city's API is only on its socket."},
		{Path: "api.bind", Kind: String, Def: `"127.0.0.1"`, Check: checkBind,
			Doc: "The IP address to listen on, or `localhost`. An address that other machines " +
				"can reach requires a token, because a client of the API can do everything " +
				"that you can."},
		{Path: "api.hosts", Kind: Strings, Check: checkHosts,
			Doc: "Additional host names, without ports, that requests can use: names of a proxy " +
				"or of this machine. gcity always accepts `localhost`, loopback addresses and " +
				"the address of the connection, and rejects all other names."},
		{Path: "api.token", Kind: Bool, Def: "true",
			Doc: "`true`: every request must contain a token, as `Authorization: Bearer …`. " +
				"Without `token_file`, the city creates `.gc/api.token`; `gcity status` shows " +
				"the path. `false` = no token: every user on this machine can do everything that " +
				"you can."},
		{Path: "api.token_file", Kind: String, Check: checkPath,
			Doc: "A file with the token: one line of 16 to 512 characters. The file must belong " +
				"to you or root, and other users must not be able to read it. The path is " +
				"relative to the file that contains the key. The city reads the file again after " +
				"each change."},
		{Path: "api.read_token_file", Kind: String, Check: checkPath,
			Doc: "A file with a second token that allows only reading, including streams: " +
				"requests other than GET are rejected. The same rules apply as for `token_file`."},
	}
}

func checkBind(v any) string {
	bind := v.(string)
	if bind == localhost {
		return ""
	}
	if addr, err := netip.ParseAddr(bind); err != nil || addr.Zone() != "" {
		return fmt.Sprintf(
			`%q is not an IP address; use "127.0.0.1" for this machine only, or "0.0.0.0" for `+
				`all its addresses`, bind)
	}
	return ""
}

func checkHosts(v any) string {
	for _, host := range v.([]string) {
		if _, err := netip.ParseAddr(host); err == nil {
			continue
		}
		if !hostName(host) {
			return fmt.Sprintf(
				`%q is not a host name; use the form "city.example.org", without a port and `+
					`without "http://"`, host)
		}
	}
	return ""
}

func hostName(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label,
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
			return false
		}
	}
	return true
}

// IsLocal reports whether a bind address is reachable only from this machine.
func IsLocal(bind string) bool {
	if bind == localhost {
		return true
	}
	addr, err := netip.ParseAddr(bind)
	return err == nil && addr.Unmap().IsLoopback()
}
