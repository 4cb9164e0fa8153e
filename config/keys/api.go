package keys

import (
	"fmt"
	"net/netip"
	"strings"
)

const localhost = "localhost"

func apiKeys() []Key {
	return []Key{
		{Path: "api", Kind: Table, Doc: "The HTTP API on a port, for programs and pages that " +
			"cannot use the city's socket; [api.md](api.md) tells how it is asked, " +
			"and what it refuses. A change counts at once, and cuts what is connected there. A " +
			"city that the supervisor runs ignores it: the supervisor has a port for all."},
		{Path: "api.port", Kind: Int, Def: "0", Within: &bounds{0, 65535, func(n int) string {
			return fmt.Sprintf("is %d; a port is from 1 to 65535, and 0 for none", n)
		}},
			Doc: "The TCP port. 0 = none: the city answers on its socket alone."},
		{Path: "api.bind", Kind: String, Def: `"127.0.0.1"`, Check: checkBind,
			Doc: "The IP address to listen on, or `localhost`. One that other machines reach " +
				"needs a token: the API can do everything that you can."},
		{Path: "api.hosts", Kind: Strings, Check: checkHosts,
			Doc: "More names that requests may be made to, without ports: those of a proxy, or " +
				"this machine's. `localhost`, loopback addresses and the address " +
				"that a connection came in at are always among them; anything else is refused."},
		{Path: "api.token", Kind: Bool, Def: "true",
			Doc: "Every request must bring a token, as `Authorization: Bearer …`. Without a " +
				"`token_file` the city makes `.gc/api.token`, and `gcity status` shows " +
				"where that is. " +
				"`false` = no token: every user of this machine can do everything that you can."},
		{Path: "api.token_file", Kind: String, Check: checkPath,
			Doc: "A file with the token: 16 to 512 characters on one line. It belongs to you or " +
				"root, and no other user may read it. " +
				"Relative to the file that says it. Read again whenever it changes."},
		{Path: "api.read_token_file", Kind: String, Check: checkPath,
			Doc: "A file with a second token that allows reading only, streams included: " +
				"everything but GET is refused. As `token_file` otherwise."},
	}
}

func checkBind(v any) string {
	bind := v.(string)
	if bind == localhost {
		return ""
	}
	if addr, err := netip.ParseAddr(bind); err != nil || addr.Zone() != "" {
		return fmt.Sprintf("%q is no IP address; \"127.0.0.1\" is this machine alone, "+
			"\"0.0.0.0\" every address that it has", bind)
	}
	return ""
}

func checkHosts(v any) string {
	for _, host := range v.([]string) {
		if _, err := netip.ParseAddr(host); err == nil {
			continue
		}
		if !hostName(host) {
			return fmt.Sprintf("%q is no name of a host; write \"city.example.org\", without a "+
				"port and without \"http://\"", host)
		}
	}
	return ""
}

// hostName says whether s is a name as DNS has them, in full: no pattern, no port.
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
