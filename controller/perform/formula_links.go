package perform

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"gcity/agent"
	"gcity/formula"
)

// linkFormulas links the formulas of each scope, the city or a rig, into its folder .beads/formulas. It skips rigs
// with unusable folders, because that problem is reported for the rig. It returns all other problems.
func (au *automations) linkFormulas(ctx context.Context, layers []formula.Layer,
	rigs []agent.Rig) (trouble []string) {
	link := func(name, scope, dir string, layers []formula.Layer) {
		var err error
		if !au.inBackground(ctx, name, hungLimit, func() func() {
			failed := linkInto(dir, layers)
			return func() { err = failed }
		}) {
			err = fmt.Errorf("a folder %w; existing links are kept", errUnresponsive)
		}
		if err != nil {
			trouble = append(trouble, fmt.Sprintf("cannot link the formulas of %s: %v", scope,
				err))
		}
	}
	link("formulas", "the city", au.w.Dir, layersFor("", layers))
	for i := range rigs {
		if rig := &rigs[i]; rig.Problem == "" {
			link("formulas of "+rig.Name, "rig "+rig.Name, rig.Path, layersFor(rig.Name, layers))
		}
	}
	return trouble
}

// layersFor returns the layers in which a rig finds formulas, or the city's layers if rig is "".
func layersFor(rig string, layers []formula.Layer) []formula.Layer {
	return slices.DeleteFunc(slices.Clone(layers), func(l formula.Layer) bool {
		return l.Rig != "" && l.Rig != rig
	})
}

func linkInto(dir string, layers []formula.Layer) error {
	winners, err := formula.Resolve(layers)
	if err == nil {
		_, err = formula.Link(filepath.Join(dir, ".beads", "formulas"), winners)
	}
	return err
}
