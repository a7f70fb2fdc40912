"""The command line: from words to a checked request. The only importer of Hydra.

=====================  ==================================================================
`sweep.cli.main`       the command line itself: help, errors, exit codes
`sweep.cli.arguments`  flags: ``--help``, ``--config-dir`` and Hydra's others
`sweep.cli.grammar`    Hydra's grammar of overrides, with texts as typed
`sweep.cli.overrides`  words ``key=value``: keys and their values
`sweep.cli.files`      YAML files as Hydra reads them, with texts as written
`sweep.cli.compose`    configuration files, composed by Hydra
`sweep.cli.request`    words and files together: a grid and the options of a run
`sweep.cli.options`    every option of a run, declared
`sweep.cli.help`       the text of ``--help``
=====================  ==================================================================

A configuration is composed once per combination of groups; `sweep.grid` sets values in memory.
"""
