"""YAML files as Hydra reads them, with texts as written."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import yaml
from hydra._internal.core_plugins.file_config_source import FileConfigSource
from hydra.plugins.config_source import ConfigLoadError, ConfigResult
from omegaconf import OmegaConf
from omegaconf._utils import get_yaml_loader
from omegaconf.errors import OmegaConfBaseException

from core.errors import GridError
from sweep.cli.overrides import text_keys

SCHEME = "coflow-sweep"
CONF = Path(__file__).resolve().parents[2] / "conf"
"""The files that come with the package; never those of a directory ``conf`` of the user."""

_TEXT, _NULL = "tag:yaml.org,2002:str", "tag:yaml.org,2002:null"


class YamlFiles(FileConfigSource):
    """A directory of configuration files."""

    @staticmethod
    def scheme() -> str:
        """Return the name before ``://`` in Hydra's search path."""
        return SCHEME

    def load_config(self, config_path: str) -> ConfigResult:
        """Return the content of a file.

        Raises
        ------
        GridError
            The file cannot be read, or a grid lacks the line that Hydra needs.
        """
        path = Path(self.path, self._normalize_file_name(config_path))
        if not path.exists():
            raise ConfigLoadError(f"Config not found : {path}")
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise GridError(f"{path} cannot be read ({error}); save it as UTF-8 text") from error
        header = self._get_header_dict(text[:512])
        group = str(Path(config_path).parent).replace("/", ".").strip(".")
        if group.split(".")[0] == "experiment" and header["package"] != "_global_":
            raise GridError(
                f"{path}: the line '# @package _global_' is missing; make it the first line"
            )
        package = group if header["package"] is None else header["package"]
        prefix = "" if package in ("", "_global_") else f"{package}."
        return ConfigResult(
            config=OmegaConf.create(_content(text, path, prefix)),
            path=f"{SCHEME}://{self.path}",
            provider=self.provider,
            header=header,
        )


def _content(text: str, path: Path, prefix: str) -> dict[Any, Any]:
    stream = io.StringIO(text)
    stream.name = str(path)
    loader = get_yaml_loader()(stream)
    try:
        node = loader.get_single_node()
        if node is not None:
            _keep_texts(node, prefix, set())
        content = None if node is None else loader.construct_document(node)
        if not isinstance(content, dict | None):
            raise GridError(f"{path}: {str(content)[:80]!r} is not a mapping of keys to values")
    except (yaml.YAMLError, OmegaConfBaseException, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise GridError(f"{path} is not valid YAML ({reason[:300]}); correct the file") from error
    finally:
        loader.dispose()
    return content or {}


def _keep_texts(node: yaml.Node, key: str, visited: set[int]) -> None:
    """Let the values of text keys be text: ``path: 1.10`` names the file ``1.10``."""
    if id(node) in visited:  # an alias
        return
    visited.add(id(node))
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            _keep_texts(value, f"{key}.{name.value}".strip("."), visited)
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            _keep_texts(value, key, visited)
    elif key.removeprefix("grid.") in text_keys() and node.tag != _NULL:
        node.tag = _TEXT
