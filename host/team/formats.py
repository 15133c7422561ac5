"""The names of the team workflow, made of those of this program."""

from governance.team.formats import Formats
from host.namespace import MARK, REPOSITORY_FOLDER, SCRIPT

FORMATS = Formats(prefix=SCRIPT, mark=MARK, folder=REPOSITORY_FOLDER)
