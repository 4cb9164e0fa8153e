package redact

import (
	"strings"
	"testing"
)

func TestName(t *testing.T) {
	for name, want := range map[string]bool{
		"API_KEY": true, "api_key": true, "GITHUB_TOKEN": true, "DB_PASSWORD": true, "PASSWD": true, "AWS_SECRET_ACCESS_KEY": true,
		"GOOGLE_APPLICATION_CREDENTIALS": true, "DB_PWD": true, "REGISTRY_AUTH": true, "SENTRY_DSN": true,
		"PASS": true, "PGPASS": true, "DBPASS": true, "SMTPPASS": true, "dbPass": true, "AUTH": true, "AUTHORIZATION": true, "DSN": true, "JWT": true,
		"HTTP_AUTH_HEADER": true, "GH_PAT": true, "MYSQL_PWD": true, "basicAuth": true, "JWT_2": true,
		"PATH": false, "PWD": false, "OLDPWD": false, "HOME": false, "GC_SESSION_NAME": false, "SSH_AUTH_SOCK": false, "XAUTHORITY": false, "": false,
		"GIT_AUTHOR_NAME": false, "PASSES": false, "API_KEY_FILE": true, "MAX_TOKENS": false, "max-output-tokens": false, "numTokens": false, "API_TOKENS": true, "MAX_KEY_TOKENS": true, "PIPELINE": false, "SPAWN": false,
	} {
		if Name(name) != want {
			t.Errorf("Name(%q) = %v", name, !want)
		}
	}
}

func TestValue(t *testing.T) {
	for value, want := range map[string]string{
		"postgres://me:hunter2@db/x":             "postgres://…@db/x",
		"redis://:hunter2@db":                    "redis://…@db",
		"https://ghp_hunter2@github.com/o/r":     "https://…@github.com/o/r",
		"postgres://me:hun@ter2@db/x":            "postgres://…@db/x",
		"postgres://me:hun/ter2@db/x":            "postgres://…@db/x",
		"//me:hunter2@db":                        "//…@db",
		"http://a:b@c/ https://d:e@f":            "http://…@c/ https://…@f",
		"postgres://db/x?user=me&password=h":     "postgres://db/x?user=me&password=…",
		"https://h/?access_token=abc&page=2":     "https://h/?access_token=…&page=2",
		"https://h/?PWD=a;b#c":                   "https://h/?PWD=…",
		"https://h/?pass%77ord=abc":              "https://h/?pass%77ord=…",
		"https://h/x?sv=1&sig=abc":               "https://h/x?sv=1&sig=…",
		"host=db user=me password = 'hun & ter'": "host=db user=me password =…",
		`{"user":"me","token":"hunter2"}`:        `{"user":"me","token":…`,
		"Authorization: Bearer hunter2":          "Authorization:…",
		"https://example.org/a:b@c":              "https://example.org/a:b@c",
		"https://example.org:8080/x@y":           "https://example.org:8080/x@y",
		"http://[::1]/x@y":                       "http://[::1]/x@y",
		"https://h/?q=1&password=":               "https://h/?q=1&password=",
		"/opt/key:/usr/bin":                      "/opt/key:/usr/bin",
		"git@github.com:o/r":                     "git@github.com:o/r",
		"--depth=1 plain a=b":                    "--depth=1 plain a=b",
		"file:///home/me":                        "file:///home/me",
	} {
		if got := Value(value); got != want {
			t.Errorf("Value(%q) = %q, want %q", value, got, want)
		}
	}
}

// The redacted value never contains the secret.
func FuzzValue(f *testing.F) {
	for _, secret := range []string{"hunter2", "ghp_a1", "p@ss", "p%40", "a:b", "-=-", "…", "ä", `"x"`, "a;b", "12", "://", "//", "=", "token="} {
		f.Add(secret)
	}
	f.Fuzz(func(t *testing.T, secret string) {
		for _, place := range []struct{ before, after, ends string }{
			{"postgres://me:", "@db.example/x", "/?#\\ \t\r\n"},
			{"postgres://me:0x", "/w@db.example", "/?#\\@ \t\r\n"}, // the password contains a slash
			{"https://", "@db.example/x?y=z", "/?#\\ \t\r\n"},
			{"//:", "@db.example", "/?#\\ \t\r\n"},
			{"https://example.org ftp://u:", "@h", "/?#\\ \t\r\n"},
			{"https://h/p?a=b&access_token=", "&c=d", "&"},
			{"https://h/p?password=", "", "&"},
			{"host=h user=u password=", " port=1", "&"},
			{"Password='", "';Server=h", ""},
			{`{"u":"me","apiKey":"`, `"}`, ""},
			{"Authorization: Bearer ", "", "&"},
		} {
			if secret == "" || strings.ContainsAny(secret, place.ends) {
				continue
			}
			const mark = "Ω" // distinguishes the secret from similar text
			planted := mark + secret + mark
			if got := Value(place.before + planted + place.after); strings.Contains(got, mark) || strings.Contains(got, planted) {
				t.Errorf("%q shows %q", got, secret)
			}
		}
	})
}
