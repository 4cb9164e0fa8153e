package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// dashboard is a client like Gas City's dashboards and scripts.
type dashboard struct {
	*town
	hc     *http.Client
	root   string          // "http://localhost:8080"
	prefix string          // prefix of the city's paths: "/v0" or "/v0/city/town"
	token  string          // "" = none
	sent   map[string]bool // methods and paths without their queries
}

type object map[string]any

func (o object) at(path string) any {
	var v any = map[string]any(o)
	for part := range strings.SplitSeq(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			v = at[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(at) {
				return nil
			}
			v = at[i]
		default:
			return nil
		}
	}
	return v
}

func (o object) text(path string) string { return fmt.Sprint(o.at(path)) }

func (o object) item(field, value string) object {
	items, _ := o.at("items").([]any)
	for _, i := range items {
		if m, ok := i.(map[string]any); ok && fmt.Sprint(m[field]) == value {
			return m
		}
	}
	return nil
}

// request adds the city's prefix to every path except /health and paths below /v0/.
func (d *dashboard) request(ctx context.Context, method, path, body string) *http.Response {
	d.t.Helper()
	at := d.root + d.prefix + path
	if path == "/health" || strings.HasPrefix(path, "/v0/") {
		at = d.root + path
	}
	r, err := http.NewRequestWithContext(ctx, method, at, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	d.sent[method+" "+r.URL.Path] = true
	r.Header.Set("X-GC-Request", "1")
	if method != "GET" {
		r.Header.Set("Content-Type", "application/json")
	}
	if d.token != "" {
		r.Header.Set("Authorization", "Bearer "+d.token)
	}
	resp, err := d.hc.Do(r)
	if err != nil {
		d.t.Fatalf("%s %s: %v", method, path, err)
	}
	return resp
}

func (d *dashboard) call(method, path, body string) (int, object) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), patience)
	defer cancel()
	resp := d.request(ctx, method, path, body)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		d.t.Fatalf("%s %s: %v", method, path, err)
	}
	var o object
	if err := json.Unmarshal(data, &o); err != nil {
		d.t.Fatalf("%s %s: %d %v in %s", method, path, resp.StatusCode, err, data)
	}
	return resp.StatusCode, o
}

func (d *dashboard) ok(method, path, body string) object {
	d.t.Helper()
	status, o := d.call(method, path, body)
	if status != http.StatusOK && status != http.StatusCreated {
		d.t.Fatalf("%s %s %s: got %d %v", method, path, body, status, o)
	}
	return o
}

func (d *dashboard) refused(want int, method, path, body string, words ...string) {
	d.t.Helper()
	status, o := d.call(method, path, body)
	if status != want || o.text("code") == "<nil>" {
		d.t.Errorf("%s %s %s: got %d %v, want %d", method, path, body, status, o, want)
	}
	for _, word := range words {
		if !strings.Contains(o.text("message"), word) {
			d.t.Errorf("%s %s: want %[4]q in %[3]q", method, path, o.text("message"), word)
		}
	}
}

// has checks values in a response. want alternates between paths and values.
func (d *dashboard) has(what string, o object, want ...string) {
	d.t.Helper()
	for pair := range slices.Chunk(want, 2) {
		if got := o.text(pair[0]); got != pair[1] {
			d.t.Errorf("%s: %s is %q, want %q in %v", what, pair[0], got, pair[1], o)
		}
	}
}

type frame struct{ id, event, data string }

func (d *dashboard) frames(path string, n int) (got []frame) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), patience)
	defer cancel()
	resp := d.request(ctx, "GET", path, "")
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		data, _ := io.ReadAll(resp.Body)
		d.t.Fatalf("%s: %d %s", path, resp.StatusCode, data)
	}
	var f frame
	for lines := bufio.NewScanner(resp.Body); len(got) < n && lines.Scan(); {
		key, value, _ := strings.Cut(lines.Text(), ": ")
		switch key {
		case "id":
			f.id = value
		case "event":
			f.event = value
		case "data":
			f.data = value
		case "":
			if f.data != "" {
				got = append(got, f)
			}
			f = frame{}
		}
	}
	if len(got) < n {
		d.t.Fatalf("%s ended after %d of %d items", path, len(got), n)
	}
	return got
}

func (d *dashboard) reads() {
	d.t.Helper()
	d.until("the worker is ready", func() bool {
		_, o := d.call("GET", "/agent/worker/output?lines=20", "")
		return strings.Contains(o.text("turns.0.text"), "ready")
	})
	d.has("health", d.ok("GET", "/health", ""), "status", "ok")
	cities := d.ok("GET", "/v0/cities", "")
	name := d.ok("GET", "/status", "").text("name")
	if cities.item("name", name) == nil {
		d.t.Errorf("want %s in %v", name, cities)
	}
	d.has("status", d.ok("GET", "/status", ""), "agent_count", "3", "rig_count", "1", "suspended", "false")
	agents := d.ok("GET", "/agents?peek=true", "")
	worker := agents.item("name", "worker")
	d.has("agent", worker, "running", "true", "suspended", "false", "available", "true", "session.attached", "false")
	if worker.text("last_output") == "<nil>" || worker.text("session.last_activity") == "<nil>" {
		d.t.Errorf("worker: %v", worker)
	}
	d.has("agents of the rig", d.ok("GET", "/agents?rig=shop", ""), "total", "1", "items.0.rig", "shop")
	d.has("agent", d.ok("GET", "/agent/worker", ""), "name", "worker")
	d.has("agent of the rig", d.ok("GET", "/agent/shop/hand", ""), "name", "shop/hand")
	d.has("rigs", d.ok("GET", "/rigs", ""), "items.0.name", "shop", "items.0.prefix", "sh", "items.0.suspended", "false")
	d.has("orders", d.ok("GET", "/orders", ""), "orders.0.name", "tick", "items.0.name", "tick")
	if d.ok("GET", "/formulas", "").item("name", "bake") == nil {
		d.t.Error("the formula is missing from the list")
	}
	d.has("validate", d.ok("GET", "/config/validate", ""), "valid", "true")
	explained := d.ok("GET", "/config/explain", "")
	if !strings.Contains(fmt.Sprint(explained), "city.toml:") {
		d.t.Errorf("%v", explained)
	}
	if peek := d.ok("GET", "/agent/worker/peek", "").text("output"); !strings.Contains(peek, "ready") {
		d.t.Errorf("peek: %s", peek)
	}
	d.ok("POST", "/agent/worker/nudge", `{"message":"hello"}`)
	d.refused(400, "POST", "/agent/worker/nudge", `{"message":"a","text":"b"}`, "message")
	turn := d.frames("/agent/worker/output/stream", 1)[0]
	if turn.event != "turn" || !strings.Contains(turn.data, "ready") {
		d.t.Errorf("output: %+v", turn)
	}
}

func (d *dashboard) works() {
	d.t.Helper()
	inRig := d.ok("POST", "/beads", `{"title":"one","description":"d","rig":"shop"}`)
	if !strings.HasPrefix(inRig.text("id"), "sh-") {
		d.t.Errorf("created %v", inRig)
	}
	id := d.ok("POST", "/beads", `{"title":"two","description":"d"}`).text("id")
	d.has("bead", d.ok("GET", "/bead/"+id, ""), "id", id, "title", "two", "status", "open", "description", "d")
	if d.ok("GET", "/beads/ready", "").item("id", id) == nil {
		d.t.Error("the bead is not in the list of ready work")
	}
	d.has("of the rig", d.ok("GET", "/beads?status=open&limit=50&rig=shop", ""), "items.0.id", inRig.text("id"))
	d.ok("POST", "/bead/"+id+"/update", `{}`)
	d.ok("POST", "/bead/"+id+"/update", `{"assignee":"worker","labels":["gc:escalation"],"status":"in_progress"}`)
	d.has("labelled", d.ok("GET", "/beads?label=gc:escalation&status=in_progress", ""), "items.0.id", id)
	d.until("the agent has its work", func() bool {
		_, o := d.call("GET", "/agent/worker", "")
		return o.text("active_bead") == id && strings.HasPrefix(o.text("task"), id)
	})
	d.ok("POST", "/bead/"+id+"/close", "")
	d.refused(409, "POST", "/bead/"+inRig.text("id")+"/reopen", "", "not closed")
	d.ok("POST", "/bead/"+id+"/reopen", "")
	d.ok("POST", "/bead/"+id+"/assign", `{"assignee":"lazy"}`)
	d.has("reopened", d.ok("GET", "/bead/"+id, ""), "status", "open", "assignee", "lazy")
	child := d.ok("POST", "/beads", `{"title":"child","parent_id":"`+id+`","needs":[]}`).text("id")
	d.has("deps", d.ok("GET", "/bead/"+id+"/deps", ""), "children.0.id", child)
	d.ok("POST", "/sling", `{"bead":"`+inRig.text("id")+`","target":"hand","rig":"shop"}`)
	d.has("slung", d.ok("GET", "/bead/"+inRig.text("id"), ""), "assignee", "shop/hand")
}

func (d *dashboard) convoys() {
	d.t.Helper()
	one := d.ok("POST", "/beads", `{"title":"one"}`).text("id")
	two := d.ok("POST", "/beads", `{"title":"two"}`).text("id")
	id := d.ok("POST", "/convoys", `{"title":"both","items":["`+one+`"]}`).text("id")
	if d.ok("GET", "/convoys", "").item("id", id) == nil {
		d.t.Error("the convoy is missing from the list")
	}
	d.ok("POST", "/convoy/"+id+"/add", `{"items":["`+two+`"]}`)
	d.ok("POST", "/bead/"+one+"/close", "")
	d.has("convoy", d.ok("GET", "/convoy/"+id, ""), "convoy.id", id, "progress.total", "2", "progress.closed", "1",
		"children.0.id", one, "children.1.id", two)
	d.ok("POST", "/convoy/"+id+"/close", "")
	d.has("closed convoy", d.ok("GET", "/convoy/"+id, ""), "convoy.status", "closed")
	d.refused(404, "GET", "/convoy/"+one, "")
}

func (d *dashboard) mails() {
	d.t.Helper()
	before := d.ok("GET", "/mail/count", "").at("total").(float64)
	id := d.ok("POST", "/mail", `{"from":"dashboard","to":"worker","subject":"s","body":"b","rig":"shop"}`).text("id")
	d.has("everybody's", d.ok("GET", "/mail", "").item("id", id), "from", "dashboard", "to", "worker", "subject", "s", "body", "b", "read", "false")
	if d.ok("GET", "/mail?agent=lazy", "").item("id", id) != nil {
		d.t.Error("lazy has the worker's message")
	}
	d.has("count", d.ok("GET", "/mail/count", ""), "total", fmt.Sprint(before+1))
	d.ok("POST", "/mail/"+id+"/read", "")
	d.has("read", d.ok("GET", "/mail/"+id, ""), "read", "true")
	d.ok("POST", "/mail/"+id+"/mark-unread", "")
	d.has("unread", d.ok("GET", "/mail/count?agent=worker", ""), "unread", "1")
	answer := d.ok("POST", "/mail/"+id+"/reply", `{"from":"worker","subject":"re","body":"x"}`).text("id")
	d.has("thread", d.ok("GET", "/mail/thread/"+id, ""), "items.0.id", id, "items.1.id", answer, "items.1.thread_id", id)
	d.ok("POST", "/mail/"+id+"/archive", "")
	if d.ok("GET", "/mail", "").item("id", id) != nil {
		d.t.Error("the archived message is listed")
	}
}

func (d *dashboard) suspends() {
	d.t.Helper()
	state := func(path, field, want string) {
		d.until(path+" has "+field+" "+want, func() bool {
			_, o := d.call("GET", path, "")
			return o.text(field) == want
		})
	}
	for _, off := range []struct{ method, path, body, what, on, onBody string }{
		{"POST", "/agent/worker/suspend", "", "/agent/worker", "/agent/worker/resume", ""},
		{"PATCH", "/agent/worker", `{"suspended":true}`, "/agent/worker", "/agent/worker", `{"suspended":false}`},
		{"POST", "/rig/shop/suspend", "", "/rig/shop", "/rig/shop/resume", ""},
		{"PATCH", "/rig/shop", `{"suspended":true}`, "/rig/shop", "/rig/shop", `{"suspended":false}`},
		{"PATCH", "/city", `{"suspended":true}`, "/status", "/city", `{"suspended":false}`},
	} {
		d.ok(off.method, off.path, off.body)
		state(off.what, "suspended", "true")
		d.ok(off.method, off.on, off.onBody)
		state(off.what, "suspended", "false")
	}
	state("/agent/worker", "running", "true")
	state("/agent/shop/hand", "running", "true")
	was := d.ok("GET", "/agent/shop/hand", "").text("pid")
	d.has("restart", d.ok("POST", "/rig/shop/restart", ""), "status", "ok", "restarted.0", "shop/hand")
	d.until("the rig's agent has a new process", func() bool {
		_, o := d.call("GET", "/agent/shop/hand", "")
		return o.text("running") == "true" && o.text("pid") != was
	})
}

// edits changes the configuration. The error for an unsupported request names the alternative.
func (d *dashboard) edits() {
	d.t.Helper()
	file := filepath.Join(d.dir, "city.toml")
	before, err := os.ReadFile(file)
	if err != nil {
		d.t.Fatal(err)
	}
	folder := d.t.TempDir()
	d.ok("POST", "/rigs", `{"name":"mill","path":"`+folder+`"}`)
	d.has("the new rig", d.ok("GET", "/rig/mill", ""), "path", folder)
	d.refused(409, "POST", "/rigs", `{"name":"mill","path":"`+folder+`"}`, "mill")
	d.refused(400, "POST", "/rigs", `{"name":"none","path":"`+folder+`/none"}`, "does not exist")
	d.refused(409, "DELETE", "/rig/shop", "", "shop/hand")
	d.ok("DELETE", "/rig/mill", "")
	d.refused(404, "DELETE", "/rig/mill", "")
	after, err := os.ReadFile(file)
	if err != nil || strings.TrimSpace(string(after)) != strings.TrimSpace(string(before)) {
		d.t.Errorf("%v: file before\n%s\nand after\n%s", err, before, after)
	}
	d.refused(501, "POST", "/agents", `{"name":"x","provider":"claude"}`, "[[agents]]")
	d.refused(501, "PATCH", "/agent/worker", `{"provider":"claude"}`, "[[agents]]")
	d.refused(501, "DELETE", "/agent/worker", "", "[[agents]]")
	d.refused(501, "PATCH", "/rig/shop", `{"prefix":"zz"}`, "[[rigs]]")
	d.refused(501, "POST", "/providers", `{"name":"x","command":"y"}`, "[providers.NAME]")
	d.refused(501, "PATCH", "/provider/claude", `{"command":"y"}`, "[providers.NAME]")
	d.refused(501, "DELETE", "/provider/claude", "", "[providers.NAME]")
	d.refused(404, "GET", "/sessions?state=active&peek=true", "", "session model", "/v0/agents")
	d.refused(404, "GET", "/services", "", "session model")
	d.refused(400, "GET", "/agents?sort=name", "", `"sort"`, "pool", "rig", "peek")
	d.refused(400, "GET", "/events/stream?afterseq=3", "", `"afterseq"`, "after_seq", "after_cursor", "after")
}

func seqs(o object) (out []string) {
	items, _ := o.at("items").([]any)
	for i := range items {
		out = append(out, o.text(fmt.Sprintf("items.%d.seq", i)))
	}
	return out
}

// follows reconnects to the event stream after every event, with each name of the cursor parameter.
func (d *dashboard) follows() {
	d.t.Helper()
	d.ok("POST", "/events", `{"type":"bake.begun","message":"m"}`)
	since := seqs(d.ok("GET", "/events?since=1h", ""))
	newest := seqs(d.ok("GET", "/events?since=1h&order=desc&limit=2", ""))
	if len(since) < 3 || since[0] != "1" || newest[0] == since[0] || since[len(since)-1] < "1" {
		d.t.Fatalf("since: got %v, newest: got %v", since, newest)
	}
	for i, seq := range since {
		if seq != fmt.Sprint(i+1) {
			d.t.Fatalf("the events are not in sequence: %v", since)
		}
	}
	const n = 6
	whole := d.frames("/events/stream?after_seq=0", n)
	for cut := 1; cut < n; cut++ {
		for _, cursor := range []string{"after_seq", "after_cursor", "after"} {
			rest := d.frames("/events/stream?"+cursor+"="+whole[cut-1].id, n-cut)
			if !slices.Equal(rest, whole[cut:]) {
				d.t.Errorf("cut after %d, by %s: got %v, want %v", cut, cursor, rest, whole[cut:])
			}
		}
	}
	for i, f := range whole {
		if f.id != since[i] {
			d.t.Errorf("frame %d: got the ID %s", i, f.id)
		}
	}
}

func (d *dashboard) documented() {
	d.t.Helper()
	paths, _ := d.ok("GET", "/v0/openapi.json", "").at("paths").(map[string]any)
	name := regexp.MustCompile(`\\\{[a-z]+\\\}`)
	var known []*regexp.Regexp
	for path, methods := range paths {
		of, _ := methods.(map[string]any)
		for method := range of {
			pattern := name.ReplaceAllString(regexp.QuoteMeta(path), `[^/]+(/hand)?`)
			known = append(known, regexp.MustCompile("^"+strings.ToUpper(method)+" "+pattern+"$"))
		}
	}
	for _, request := range slices.Sorted(maps.Keys(d.sent)) {
		found := slices.ContainsFunc(known, func(r *regexp.Regexp) bool { return r.MatchString(request) })
		if !found && !strings.HasSuffix(request, "/sessions") && !strings.HasSuffix(request, "/services") {
			d.t.Errorf("the document does not contain %s", request)
		}
	}
}

func (d *dashboard) everything() {
	d.t.Helper()
	d.reads()
	d.works()
	d.convoys()
	d.mails()
	d.suspends()
	d.edits()
	d.follows()
	d.documented()
}

// Edits must keep the comments. api is the [api] table, or "".
func dashboardCity(t *testing.T, c *town, name, api string) {
	t.Helper()
	shop := t.TempDir()
	c.config(fmt.Sprintf(`# the city
[workspace]
name = %q
[daemon] # what the controller does
patrol_interval = "1s"
shutdown_timeout = "300ms"
%s
# the first agent
[[agents]]
name = "worker"
start_command = "echo ready; exec cat"

[[agents]]
name = "lazy"
suspended = true # until it is needed
start_command = "exec cat"

# the shop
[[rigs]]
name = "shop"
path = %q

[[agents]]
name = "hand"
dir = "shop"
start_command = "exec cat"
`, name, api, shop))
	c.automation("tick", "gate = \"manual\"\nexec = \"true\"\n")
	c.put(".gc/formulas/bake.formula.toml", "formula = \"bake\"\n[[steps]]\nid = \"a\"\ntitle = \"A\"\n")
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func over(socket string) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}
}

// A client of Gas City's API can send every request to a real city, both over the socket and over TCP.
func TestDashboardOfOneCity(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"socket", "tcp"} {
		t.Run(place, func(t *testing.T) {
			c := newTown(t, 0, "")
			port := freePort(t)
			dashboardCity(t, c, "town", fmt.Sprintf("[api]\nport = %d\n", port))
			c.run()
			d := &dashboard{town: c, sent: map[string]bool{}, hc: over(c.socket()), root: "http://city", prefix: "/v0"}
			c.until("the city answers", c.answers)
			if place == "tcp" {
				d.hc, d.root = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, fmt.Sprintf("http://localhost:%d", port)
				d.token = c.secret(filepath.Join(c.dir, ".gc", "api.token"), port)
			}
			d.everything()
			c.gcity(0, "stop")
			c.nothingLeft()
		})
	}
}

func (c *town) secret(file string, port int) (token string) {
	c.t.Helper()
	c.until("the port answers", func() bool {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return false
		}
		conn.Close()
		text, err := os.ReadFile(file)
		token = strings.TrimSpace(string(text))
		return err == nil && token != ""
	})
	return token
}

// The same client can use everything below /v0/city/NAME of a real supervisor. The supervisor's lists and streams
// include all cities.
func TestDashboardOfManyCities(t *testing.T) {
	t.Parallel()
	l := newFleetTest(t, 2)
	names := []string{"bright-lights", "dark-alleys"}
	for i, c := range l.towns {
		dashboardCity(t, c, names[i], "")
	}
	port := freePort(t)
	l.put("supervisor.toml", fmt.Sprintf("[supervisor]\nport = %d\n", port))
	l.begin()
	c := l.towns[0]
	c.until("both cities run", func() bool { return l.is(l.towns[0]).Running && l.is(l.towns[1]).Running })
	d := &dashboard{town: c, sent: map[string]bool{}, root: fmt.Sprintf("http://localhost:%d", port), prefix: "/v0/city/" + names[0],
		hc:    &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
		token: c.secret(filepath.Join(l.home, "api.token"), port)}
	d.everything()
	d.refused(400, "GET", "/v0/status", "", names[0], names[1])
	agents := d.ok("GET", "/v0/agents", "")
	for _, name := range names {
		if agents.item("city", name) == nil {
			t.Errorf("want an agent of %s in %v", name, agents)
		}
	}
	d.followsAll(names)
	l.gcity(0, "supervisor", "stop")
	for _, c := range l.towns {
		c.nothingLeft()
	}
}

func (d *dashboard) firstID(path string) string {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), patience)
	defer cancel()
	resp := d.request(ctx, "GET", path, "")
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			return id
		}
	}
	return ""
}

// followsAll reconnects after every frame, and compares the events with the logs.
func (d *dashboard) followsAll(names []string) {
	d.t.Helper()
	all := "/v0/events/stream?"
	start := names[0] + ":0," + names[1] + ":0"
	const n = 8
	for _, cursor := range []string{"after_cursor", "after_seq", "after"} {
		for cut := 1; cut < n; cut++ {
			got := d.frames(all+cursor+"="+start, cut)
			got = append(got, d.frames(all+cursor+"="+got[cut-1].id, n-cut)...)
			next := map[string]int{names[0]: 1, names[1]: 1}
			for _, f := range got {
				var e struct {
					City string
					Seq  int
				}
				if err := json.Unmarshal([]byte(f.data), &e); err != nil || e.Seq != next[e.City] {
					d.t.Fatalf("cut after %d, by %s: got %+v, %v, want seq %d", cut, cursor, f, err, next[e.City])
				}
				next[e.City]++
				if !strings.Contains(f.id, names[0]+":") || !strings.Contains(f.id, names[1]+":") {
					d.t.Errorf("the ID %q does not name all cities", f.id)
				}
			}
		}
	}
	if id := d.firstID(strings.TrimSuffix(all, "?")); !strings.Contains(id, names[0]+":") || !strings.Contains(id, names[1]+":") {
		d.t.Errorf("first ID without a cursor: got %q", id)
	}
	d.refused(400, "GET", all+"sinse=1h", "", `"sinse"`, "after_cursor")
}
