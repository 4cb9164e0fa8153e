package api

import (
	"context"
	"net/http"
	"path/filepath"

	"gcity/api/wire"
	"gcity/city"
)

func (f *fleet) registerCity(w http.ResponseWriter, r *http.Request, rt wire.Route) error {
	var e wire.Registration
	if err := decode(w, r, &e); err != nil {
		return err
	}
	if !filepath.IsAbs(e.Path) {
		return wire.Invalid(
			`the body needs the absolute path of a folder: {"path": "/home/me/town"}`)
	}
	reg, ok := f.dir.Directory.(city.Registrar)
	if !ok {
		return city.Errorf(city.Unavailable, "this server cannot register cities")
	}
	name := rt.City
	var err error
	switch {
	case f.tenant != nil:
		select {
		case f.tenant.registrations <- struct{}{}:
			defer func() { <-f.tenant.registrations }()
		case <-r.Context().Done():
			return r.Context().Err()
		}
		name, err = f.checkRegistration(r.Context(), reg, rt.City, e.Path)
	case rt.City != "":
		err = checkName(r.Context(), reg, rt.City, e.Path)
	}
	if err != nil {
		return err
	}
	info, err := f.register(r.Context(), reg, name, e.Path)
	return f.result(w, info, err)
}

func checkName(ctx context.Context, reg city.Registrar, name, path string) error {
	s, ok := reg.(city.Previewer)
	if !ok {
		return nil
	}
	about, err := s.Preview(ctx, path)
	if err == nil && about.Name != name {
		err = otherName(path, about.Name, name)
	}
	return err
}

func otherName(path, is, asked string) error {
	return city.Errorf(city.Conflict, "the city in %s is named %s, not %s; "+
		"use /v0/city/%[2]s/register to register it", path, is, asked)
}

// register reverts the registration if the city turns out to have a different name.
func (f *fleet) register(ctx context.Context, reg city.Registrar, name, path string) (city.Info,
	error) {
	before, err := f.dir.Directory.Cities(ctx)
	if err != nil {
		return city.Info{}, err
	}
	info, err := reg.Register(ctx, path)
	if err != nil || name == "" || info.Name == name {
		return info, f.redact(err)
	}
	if wire.Find(before, info.Name) == nil {
		if _, err := reg.Unregister(ctx, info.Name); err != nil {
			return info, f.redact(err)
		}
	}
	if f.tenant != nil {
		return info, f.rejectFolder(path, info.Name, nil)
	}
	return info, otherName(path, info.Name, name)
}

func (f *fleet) unregisterCity(w http.ResponseWriter, r *http.Request, rt wire.Route) error {
	reg, ok := f.dir.Directory.(city.Registrar)
	if !ok {
		return city.Errorf(city.Unavailable, "this server cannot unregister cities")
	}
	if b, err := body(w, r); err != nil {
		return err
	} else if len(b) > 0 && string(b) != "{}" {
		return wire.Invalid("this request does not take a body: the path names the city")
	}
	all, err := f.dir.Cities(r.Context())
	if err != nil {
		return err
	}
	if wire.Find(all, rt.City) == nil {
		return wire.UnknownCity(rt.City, all)
	}
	receipt, err := reg.Unregister(r.Context(), rt.City)
	return f.result(w, receipt, f.redact(err))
}
