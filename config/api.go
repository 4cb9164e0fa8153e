package config

import (
	"strings"

	"gcity/config/keys"
)

func (d checker) checkAPI() {
	c := d.city
	d.tokenFile("api.token_file", &c.API.TokenFile)
	d.tokenFile("api.read_token_file", &c.API.ReadFile)
	if c.API.Port != 0 && !c.API.Token && !keys.IsLocal(c.API.Bind) && !d.failedIn("api") {
		d.addError(c.Origins["api.bind"], "api.bind",
			"other machines can reach %q, and without a token every client has full "+
				"access; remove `token = false`", c.API.Bind)
	}
}

func (d checker) tokenFile(name string, file *string) {
	c := d.city
	if *file == "" {
		return
	}
	d.file(name, file)
	if !c.API.Token {
		d.addError(c.Origins["api.token"], "api.token",
			"is false, but %s is set: remove one of them",
			strings.TrimPrefix(name, "api."))
	}
}

func (d checker) file(name string, file *string) {
	if *file == "" {
		return
	}
	at := d.city.Origins[name]
	path, err := resolve(d.city.Path, d.city.folderOf(at), *file)
	if err != nil {
		d.addError(at, name, "%v", err)
	}
	*file = path
}
