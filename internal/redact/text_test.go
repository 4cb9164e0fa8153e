package redact

import (
	"slices"
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"claude --api-key hunter2 --model x":                      "claude --api-key … --model x",
		"claude --api-key=hunter2 --model x":                      "claude --api-key=… --model x",
		"claude -api-key 'hun ter2' x":                            "claude -api-key '…' x",
		"API_KEY=hunter2 claude --model x":                        "API_KEY=… claude --model x",
		"env A=1 API_KEY='hunter2 x' DB_PASSWORD=\"a b\" cmd x":   "env A=1 API_KEY=… DB_PASSWORD=… cmd x",
		`curl -H "Authorization: Bearer hunter2" https://h/x`:     `curl -H "Authorization: Bearer …" https://h/x`,
		`curl -H 'X-Api-Key: hunter2' -H 'Accept: a' h`:           `curl -H 'X-Api-Key: …' -H 'Accept: a' h`,
		`curl -H Authorization:\ Bearer\ hunter2 h`:               `curl -H Authorization:… h`,
		"Authorization: Basic aHVudGVy x":                         "Authorization: Basic … x",
		"sent Bearer hunter2 to h":                                "sent Bearer … to h",
		"curl -u me:hunter2 h":                                    "curl -u me:… h",
		"docker run -u 1000:1000 x":                               "docker run -u 1000:1000 x",
		"git clone https://me:hunter2@h/x y":                      "git clone https://…@h/x y",
		"psql 'host=h password=hunter2 user=u'":                   "psql 'host=h password=… user=u'",
		"psql postgres://u:p@h/x?password=hunter2&a=b":            "psql postgres://…@h/x?password=…&a=b",
		`sh -c 'TOKEN=hunter2 cmd --secret hunter2 x' arg`:        `sh -c 'TOKEN=… cmd --secret … x' arg`,
		`sh -c "cmd -d '{\"token\": \"hunter2\"}'" arg`:           `sh -c "cmd -d '{\"token\": …'" arg`,
		`curl -d '{"user":"me","token":"hunter2","a":1}' h`:       `curl -d '{"user":"me","token":…,"a":1}' h`,
		`{"token": "hunter2", "a": 1}`:                            `{"token": … "a": 1}`,
		"token = \"hunter2\"\nport = 1":                           "token = \"…\"\nport = 1",
		"cannot press keys: it is away":                           "cannot press keys: it is away",
		"cannot read https://h/auth.git: no route":                "cannot read https://h/auth.git: no route",
		"/srv/secrets: not found":                                 "/srv/secrets: not found",
		"password: hunter2\nport: 1":                              "password: …\nport: 1",
		"cmd --token \\\n  hunter2 \\\n  --port 1":                "cmd --token \\\n  … \\\n  --port 1",
		"cmd --use-token --api-key hunter2":                       "cmd --use-token --api-key …",
		"cmd --token -v x":                                        "cmd --token -v x",
		"export GH=ghp_0123456789abcdef0123 x":                    "export GH=… x",
		"cmd sk-ant-api03-0123456789abcdef y":                     "cmd … y",
		"don't --token hunter2 can't":                             "don't --token … can't",
		"claude --max-tokens 4096 --dangerously-skip -p x":        "claude --max-tokens 4096 --dangerously-skip -p x",
		"PATH=/opt/key:/usr/bin make -j2 test":                    "PATH=/opt/key:/usr/bin make -j2 test",
		"ssh git@example.org:o/r 'echo \"it works\"; ls | wc -l'": "ssh git@example.org:o/r 'echo \"it works\"; ls | wc -l'",
		"exec codex --model gpt-5 --cd /x  # comment":             "exec codex --model gpt-5 --cd /x  # comment",
		"city.toml:1:1: api.token_file: is wrong --key-file /x":   "city.toml:1:1: api.token_file: is wrong --key-file /x",
		"": "",
	} {
		if got := Text(text); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
	}
}

func TestArgs(t *testing.T) {
	for _, c := range []struct{ args, want []string }{
		{nil, nil},
		{[]string{"--api-key", "hunter2", "--model", "x"}, []string{"--api-key", "…", "--model", "x"}},
		{[]string{"--api-key", "hun ter2", "-p", "a b"}, []string{"--api-key", "…", "-p", "a b"}},
		{[]string{"--token=hunter2", "-c", "API_KEY=hunter2 cmd x"}, []string{"--token=…", "-c", "API_KEY=… cmd x"}},
		{[]string{"-H", "Authorization: Bearer hunter2", "--token"}, []string{"-H", "Authorization: Bearer …", "--token"}},
		{[]string{"", "it's", "https://a:b@h"}, []string{"", "it's", "https://…@h"}},
	} {
		if got := Args(c.args); !slices.Equal(got, c.want) {
			t.Errorf("%q is %q, want %q", c.args, got, c.want)
		}
	}
}

// The redacted line never contains the secret. Redacting it again changes nothing.
func FuzzText(f *testing.F) {
	for _, secret := range []string{"hunter2", "ghp_a1", "p@ss", "a:b", "-=-", "…", "ä", "a;b", "12", "://", "//", "=", "token=", "a&b", "x,y", "Bearer", `a\b`, "$x", "{", "#"} {
		f.Add(secret)
	}
	f.Fuzz(func(t *testing.T, secret string) {
		const mark = "Ω" // distinguishes the secret from similar text
		if strings.ContainsAny(secret, " \t\r\n\"'") || strings.HasSuffix(secret, `\`) {
			return // these characters end the word
		}
		planted := mark + secret + mark
		for _, place := range []struct{ before, after string }{
			{"cmd --api-key ", " x"}, {"cmd --token=", " x"}, {"API_KEY=", " cmd"}, {"cmd --password '", "' x"}, {`cmd --password="`, `" x`},
			{`curl -H "Authorization: Bearer `, `" h`}, {"curl -H 'X-Api-Key: ", "' h"}, {"Authorization: Bearer ", " x"}, {"sh -c 'cmd --secret ", " y' x"},
			{`curl -d '{"token":"`, `","a":1}' h`}, {`{"password": "`, `"}`}, {"password = ", " x"}, {"a\nTOKEN=", "\nb"}, {"curl -u me:", " h"},
			{`say "it" --api-key `, ` "x"`}, {"--token \\\n", " x"}, {`-e "API_KEY=`, `"`},
		} {
			if strings.Contains(secret, "&") && strings.HasSuffix(place.before, "=") {
				continue // in the query of a URL, "&" ends the value
			}
			text := place.before + planted + place.after
			got := Text(text)
			if strings.Contains(got, mark) {
				t.Errorf("%q shows %q", text, got)
			}
			if again := Text(got); strings.Contains(again, mark) {
				t.Errorf("%q became %q", got, again)
			}
			if args := Args([]string{"--api-key", planted}); strings.Contains(args[1], mark) {
				t.Errorf("%q", args)
			}
		}
		if got := Args([]string{"--token=" + planted}); !strings.Contains(secret, "&") && strings.Contains(got[0], mark) {
			t.Errorf("%q", got)
		}
	})
}
