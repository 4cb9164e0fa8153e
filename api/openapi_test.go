package api

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gcity/api/openapi"
	"gcity/api/wire"
	"gcity/city/verb"
)

func sample(path string) string {
	for name, value := range map[string]string{"city": "town", "agent": "rig%2Fworker",
		"pool": "crew", "rig": "yard", "watchdog": "chain", "automation": "sweep:rig:yard",
		"bead": "tw-1", "message": "tw-2", "run": "tw-3", "provider": "claude"} {
		path = strings.ReplaceAll(path, "{"+name+"}", value)
	}
	return path
}

// The document and the routes match.
func TestDocumentMatchesAPI(t *testing.T) {
	s := newServer(t.Context(), nil, Options{})
	have, verbs := map[string]bool{}, map[string]bool{}
	for _, o := range operations() {
		for _, path := range o.Paths() {
			rt, err := wire.Parse(sample(path))
			if err != nil {
				t.Errorf("%s %s: %v", o.Method, path, err)
				continue
			}
			if s.methods(rt.Kind).of(o.Method) == nil {
				t.Errorf("%s %s: the path accepts only %s", o.Method, path, s.methods(rt.Kind))
			}
			if rt.Kind == wire.KindCommand {
				verbs[rt.Verb] = true
				if _, err := verb.Decode(rt.Verb, rt.Target, nil); err != nil &&
					strings.Contains(err.Error(), "no verb") {
					t.Errorf("%s: %v", path, err)
				}
			}
			if (rt.City != "") != strings.Contains(path, "{city}") {
				t.Errorf("%s: %+v", path, rt)
			}
			have[string(rt.Kind)+" "+o.Method] = true
		}
	}
	for _, k := range kinds(t) {
		// the profiler is not documented, and a run's path belongs to its automation
		if k == wire.KindDebug || k == wire.KindRun {
			continue
		}
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPatch,
			http.MethodDelete} {
			if s.methods(k).of(method) != nil && !have[string(k)+" "+method] {
				t.Errorf("%s of %q is not documented", method, k)
			}
		}
	}
	other := []string{"emit", "create-bead", "update-bead", "sling"}
	source, err := filepath.Glob("../city/*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range source {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\) Verb\(\) string +\{ return "([a-z-]+)" \}`).
			FindAllStringSubmatch(string(data), -1) {
			if found++; !verbs[m[1]] && !slices.Contains(other, m[1]) {
				t.Errorf("the command %q is not documented", m[1])
			}
		}
	}
	if found < 20 {
		t.Errorf("found only %d commands", found)
	}
}

// A supervisor's document also contains a city's operations.
func TestFleetDocumentMatchesAPI(t *testing.T) {
	f := newFleet(newServer(t.Context(), nil, Options{}), nil)
	have := map[string]bool{}
	for _, o := range fleetOperations() {
		for _, path := range o.Paths() {
			rt, err := wire.Parse(sample(path))
			if err != nil {
				t.Errorf("%s %s: %v", o.Method, path, err)
				continue
			}
			if can, alone := f.methods(rt); can.of(o.Method) == nil &&
				(alone || f.server.methods(rt.Kind).of(o.Method) == nil) {
				t.Errorf("%s %s: the path does not accept this method", o.Method, path)
			}
			have[path[:strings.IndexByte(path+"{", '{')]+string(rt.Kind)+" "+o.Method] = true
		}
	}
	for _, k := range kinds(t) {
		for _, rt := range []wire.Route{{Kind: k}, {Kind: k, City: "town"}} {
			can, _ := f.methods(rt)
			below := "/v0/city/"
			if rt.City == "" {
				below = "/v0/" + string(k)
			}
			for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPatch} {
				if can.of(method) != nil && k != wire.KindHealth && k != wire.KindMetrics &&
					!have[below+string(k)+" "+method] {
					t.Errorf("%s of %q is not documented", method, k)
				}
			}
		}
	}
}

func kinds(t *testing.T) (out []wire.Kind) {
	f, err := parser.ParseFile(token.NewFileSet(), "wire/route.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 && v.Type != nil &&
			fmt.Sprint(v.Type) == "Kind" {
			text, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, wire.Kind(text))
		}
		return true
	})
	if len(out) < 30 {
		t.Fatalf("found only %d kinds", len(out))
	}
	return out
}

// The document describes exactly those query parameters that the handlers read.
func TestDocumentedParameters(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, "gascity/mail.go", "gascity/events.go", "gascity/work.go")
	// the search below does not find these: "after_seq" is read through a variable; "git" and "tail" have no effect
	read := map[string]bool{"after_seq": true, "git": true, "tail": true}
	for _, file := range files {
		// the profiler is not documented
		if strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, "client") ||
			file == "guard.go" || file == "profile.go" {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(
			`(?:Query\(\)|\bv|\bq)(?:\.Get|\.Has)?[(\[]"([a-z_]+)"[)\]]|(?:number|flag)\((?:r|q\.Request), "([a-z_]+)"|match\("([a-z_]+)"`).FindAllStringSubmatch(string(data), -1) {
			read[m[1]+m[2]+m[3]] = true
		}
	}
	used := map[string]bool{}
	for _, o := range fleetOperations() {
		for name := range strings.FieldsSeq(o.Query) {
			if used[name] = true; !read[name] {
				t.Errorf("no code reads parameter %s of %s", name, o.Path)
			}
			if kind, about := o.Parameter(name); kind == "" || about == "" {
				t.Errorf("parameter %s has no description", name)
			}
		}
	}
	for name := range read {
		if !used[name] {
			t.Errorf("parameter %s is read but not documented", name)
		}
	}
}

// Parameters with the same name are described according to the path.
func TestDocumentedMeanings(t *testing.T) {
	for path, want := range map[string]string{"/v0/mail": "integer", "/v0/agents": "integer",
		"/v0/beads": "string", "/v0/beads/ready": "string", "/v0/convoys": "string"} {
		if kind, _ := openapi.Get(path, "", "", nil).Parameter("limit"); kind != want {
			t.Errorf("%s: limit is a %s", path, kind)
		}
	}
	for path, want := range map[string]string{"/v0/mail": `"unread"`, "/v0/beads": "commas"} {
		_, about := openapi.Get(path, "", "", nil).Parameter("status")
		if !strings.Contains(about, want) {
			t.Errorf("%s: status: %s", path, about)
		}
	}
}

// The document names the items of each stream, and mentions how the stream ends and what resumes it.
func TestDocumentedStreams(t *testing.T) {
	type parameter struct{ Name, In string }
	var doc struct {
		Paths map[string]struct {
			Get struct {
				Parameters []parameter
				Responses  map[string]struct {
					Description string
					Content     map[string]any
				}
			}
		}
	}
	if err := json.Unmarshal(openapi.Document(fleetOperations(), typeNames()), &doc); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for path, methods := range doc.Paths {
		response := methods.Get.Responses["200"]
		if response.Content["text/event-stream"] == nil {
			continue
		}
		name := regexp.MustCompile("item is (?:`([a-z]+)`|the event's `type`)\\.").
			FindStringSubmatch(response.Description)
		if name == nil || !strings.Contains(response.Description, wire.EventEnd+"`") ||
			!strings.Contains(response.Description, wire.EventError+"`") {
			t.Errorf("%s: %q", path, response.Description)
			continue
		}
		names[name[1]] = true
		resumes := slices.Contains(methods.Get.Parameters, parameter{"Last-Event-ID", "header"})
		if resumes != strings.HasSuffix(path, "/events/stream") {
			t.Errorf("%s: Last-Event-ID is documented: %v", path, resumes)
		}
	}
	delete(names, "")
	for _, file := range []string{"stream.go", "automations.go", "fleet_read.go"} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`st\.send\("([a-z]+)"`).
			FindAllStringSubmatch(string(data), -1) {
			if !names[m[1]] {
				t.Errorf("items with the name %q are not documented", m[1])
			}
			delete(names, m[1])
		}
	}
	if len(names) > 0 {
		t.Errorf("no stream has items with the names %v", names)
	}
}

// The document has no dangling references.
func TestDocument(t *testing.T) {
	t.Run("of a city", func(t *testing.T) { testDocument(t, operations()) })
	t.Run("of a fleet", func(t *testing.T) { testDocument(t, fleetOperations()) })
}

func testDocument(t *testing.T, all []openapi.Operation) {
	data := openapi.Document(all, typeNames())
	var doc struct {
		OpenAPI    string
		Paths      map[string]map[string]json.RawMessage
		Components struct {
			Schemas map[string]any
		}
	}
	if err := json.Unmarshal(data, &doc); err != nil || doc.OpenAPI != "3.1.0" {
		t.Fatal(err, doc.OpenAPI)
	}
	for _, m := range regexp.MustCompile(`"#/components/schemas/([^"]+)"`).
		FindAllStringSubmatch(string(data), -1) {
		if doc.Components.Schemas[m[1]] == nil {
			t.Errorf("no schema %s", m[1])
		}
	}
	if string(data) != string(openapi.Document(all, typeNames())) {
		t.Error("the document is not reproducible")
	}
	ids := map[string]string{}
	for path, methods := range doc.Paths {
		for method, about := range methods {
			var op struct {
				OperationID string
				Parameters  []struct{ Name, In string }
			}
			if err := json.Unmarshal(about, &op); err != nil {
				t.Fatal(err)
			}
			if other := ids[op.OperationID]; other != "" || !regexp.MustCompile("^[a-z]+[A-Z][A-Za-z]+$").
				MatchString(op.OperationID) {
				t.Errorf("%s %s has the ID %q, as has %q", method, path, op.OperationID, other)
			}
			ids[op.OperationID] = path
			said := map[string]bool{}
			for _, p := range op.Parameters {
				if key := p.In + " " + p.Name; said[key] {
					t.Errorf("%s %s has %s twice", method, path, key)
				} else {
					said[key] = true
				}
			}
			for _, m := range regexp.MustCompile(`\{([a-z]+)\}`).FindAllStringSubmatch(path, -1) {
				if !said["path "+m[1]] {
					t.Errorf("%s %s does not describe %s", method, path, m[1])
				}
			}
			if method != "get" && !said["header "+requestHeader] {
				t.Errorf("%s %s does not mention %s", method, path, requestHeader)
			}
		}
	}
	if n := len(doc.Paths); n < 80 {
		t.Errorf("%d paths", n)
	}
}
