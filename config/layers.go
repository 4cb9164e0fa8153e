package config

import (
	"gcity/automation"
	"gcity/formula"
)

// Layers are the folders that formulas and automations of the city are found in, lowest first, without those that come
// with the program. A rig's follow the city's.
func (c *City) Layers() []formula.Layer { return nil }

// AutomationOptions is what the configuration says about automations from outside.
func (c *City) AutomationOptions() automation.Options { return automation.Options{} }
