package config

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// API is the [api] table: where a city answers besides its socket.
type API struct {
	Port      int      // 0 = nowhere
	Bind      string   // an address, or "localhost"
	Hosts     []string // names that requests may be made to, besides those of the address
	Token     bool     // requests must bring a token
	TokenFile string   // absolute; "" = with Token a file that the city makes
	ReadFile  string   // of a token that allows reading only; absolute; "" = none
}

// Equal reports whether two tables say the same.
func (a API) Equal(b API) bool {
	return a.Port == b.Port && a.Bind == b.Bind && slices.Equal(a.Hosts, b.Hosts) &&
		a.Token == b.Token && a.TokenFile == b.TokenFile && a.ReadFile == b.ReadFile
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
		{path: "api", kind: kindTable, doc: "The HTTP API on a port, for programs and pages that " +
			"cannot use the city's socket; [api.md](api.md) tells how it is asked, " +
			"and what it refuses. A change counts at once, and cuts what is connected there. A " +
			"city that the supervisor runs ignores it: the supervisor has a port for all."},
		{path: "api.port", kind: kindInt, def: "0", within: &bounds{0, 65535, func(n int) string {
			return fmt.Sprintf("is %d; a port is from 1 to 65535, and 0 for none", n)
		}},
			doc:   "The TCP port. 0 = none: the city answers on its socket alone.",
			field: func(p place) any { return &p.city.API.Port }},
		{path: "api.bind", kind: kindString, def: `"127.0.0.1"`, check: checkBind,
			doc: "The IP address to listen on, or `localhost`. One that other machines reach " +
				"needs a token: the API can do everything that you can.",
			field: func(p place) any { return &p.city.API.Bind }},
		{path: "api.hosts", kind: kindStrings, check: checkHosts,
			doc: "More names that requests may be made to, without ports: those of a proxy, or " +
				"this machine's. `localhost`, loopback addresses and the address " +
				"that a connection came in at are always among them; anything else is refused.",
			field: func(p place) any { return &p.city.API.Hosts }},
		{path: "api.token", kind: kindBool, def: "true",
			doc: "Every request must bring a token, as `Authorization: Bearer …`. Without a " +
				"`token_file` the city makes `.gc/api.token`, and `gcity status` shows " +
				"where that is. " +
				"`false` = no token: every user of this machine can do everything that you can.",
			field: func(p place) any { return &p.city.API.Token }},
		{path: "api.token_file", kind: kindString, check: checkPath,
			doc: "A file with the token: 16 to 512 characters on one line. It belongs to you or " +
				"root, and no other user may read it. " +
				"Relative to the file that says it. Read again whenever it changes.",
			field: func(p place) any { return &p.city.API.TokenFile }},
		{path: "api.read_token_file", kind: kindString, check: checkPath,
			doc: "A file with a second token that allows reading only, streams included: " +
				"everything but GET is refused. As `token_file` otherwise.",
			field: func(p place) any { return &p.city.API.ReadFile }},
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

// api checks what shows only when all of [api] is read.
func (d *decoder) api() {
	c := d.city
	d.tokenFile("api.token_file", &c.API.TokenFile)
	d.tokenFile("api.read_token_file", &c.API.ReadFile)
	if c.API.Port != 0 && !c.API.Token && !Local(c.API.Bind) && !d.failedIn("api") {
		d.say(c.Origins["api.bind"], "api.bind",
			fmt.Sprintf("%q is reached from other machines, and anyone who reaches it can do "+
				"everything: take `token = false` out", c.API.Bind))
	}
}

// tokenFile resolves the path of a file with a token.
func (d *decoder) tokenFile(name string, file *string) {
	c := d.city
	if *file == "" {
		return
	}
	at := c.Origins[name]
	path, err := resolve(c.Path, c.folderOf(at), *file)
	if err != nil {
		d.say(at, name, err.Error())
	}
	*file = path
	if !c.API.Token {
		d.say(c.Origins["api.token"], "api.token",
			fmt.Sprintf("is false, and %s is set: take one of them out",
				strings.TrimPrefix(name, "api.")))
	}
}
