"""The analysis of cases about consumers; its checks are registered here."""

from rocketdiff.analysis.consuming.case_pass import judge_case
from rocketdiff.analysis.consuming.checks.codes import CONSUMING_CODES
from rocketdiff.analysis.consuming.pictures.plots import plots_of
from rocketdiff.analysis.role_analysis import RoleAnalysis
from rocketdiff.core.answers.where import Place

CONSUMING = RoleAnalysis(Place.MESSAGE, judge_case, CONSUMING_CODES, lambda _cases: (), plots_of)
