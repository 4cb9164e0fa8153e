package config

import (
	"fmt"
	"net/netip"
	"strings"
)

// API is the [api] table: where a city answers besides its socket.
type API struct {
	Port      int      // 0 = nowhere
	Bind      string   // an address, or "localhost"
	Hosts     []string // names that requests may be made to, besides those of the address
	TokenFile string   // absolute; "" = no token is asked for
}

// Local says whether a bind address is reached from this machine alone.
func Local(bind string) bool {
	if bind == localhost {
		return true
	}
	addr, err := netip.ParseAddr(bind)
	return err == nil && addr.Unmap().IsLoopback()
}

const localhost = "localhost"

func apiKeys() []key {
	return []key{
		{path: "api", kind: kindTable, doc: "The HTTP API on a port, for programs and pages that cannot use the city's socket; [api.md](api.md) tells how it is asked, " +
			"and what it refuses. A change counts at once, and cuts what is connected there. A city that the supervisor runs ignores it: the supervisor has a port for all."},
		{path: "api.port", kind: kindInt, def: "0", within: &bounds{0, 65535, func(n int) string {
			return fmt.Sprintf("is %d; a port is from 1 to 65535, and 0 for none", n)
		}},
			doc:   "The TCP port. 0 = none: the city answers on its socket alone.",
			field: func(p place) any { return &p.city.API.Port }},
		{path: "api.bind", kind: kindString, def: `"127.0.0.1"`, check: checkBind,
			doc:   "The IP address to listen on, or `localhost`. One that other machines reach needs a `token_file`: whoever may use the API may do everything that you may.",
			field: func(p place) any { return &p.city.API.Bind }},
		{path: "api.hosts", kind: kindStrings, check: checkHosts,
			doc: "More names that requests may be made to, without ports: those of a proxy, or this machine's. `localhost`, loopback addresses and the address " +
				"that a connection came in at are always among them; anything else is refused.",
			field: func(p place) any { return &p.city.API.Hosts }},
		{path: "api.token_file", kind: kindString, check: checkPath,
			doc: "A file with a token that every request must bring, as `Authorization: Bearer …`: 16 to 512 characters on one line, readable by you alone. " +
				"Relative to the file that says it. Read again whenever it changes.",
			field: func(p place) any { return &p.city.API.TokenFile }},
	}
}

func checkBind(v any) string {
	bind := v.(string)
	if bind == localhost {
		return ""
	}
	if addr, err := netip.ParseAddr(bind); err != nil || addr.Zone() != "" {
		return fmt.Sprintf("%q is no IP address; \"127.0.0.1\" is this machine alone, \"0.0.0.0\" every address that it has", bind)
	}
	return ""
}

func checkHosts(v any) string {
	for _, host := range v.([]string) {
		if _, err := netip.ParseAddr(host); err == nil {
			continue
		}
		if !hostName(host) {
			return fmt.Sprintf("%q is no name of a host; write \"city.example.org\", without a port and without \"http://\"", host)
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
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
			return false
		}
	}
	return true
}

// api checks what shows only when all of [api] is read.
func (d *decoder) api() {
	c := d.city
	if c.API.TokenFile != "" {
		at := c.Origins["api.token_file"]
		path, err := resolve(c.Path, c.folderOf(at), c.API.TokenFile)
		if err != nil {
			d.say(at, "api.token_file", err.Error())
		}
		c.API.TokenFile = path
	}
	if c.API.Port != 0 && c.API.TokenFile == "" && !Local(c.API.Bind) && !d.failedIn("api") {
		d.say(c.Origins["api.bind"], "api.bind", fmt.Sprintf("%q is reached from other machines, and whoever gets there may do everything: write a token_file beside it, or take it out", c.API.Bind))
	}
}
