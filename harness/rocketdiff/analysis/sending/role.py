"""The analysis of cases about producers; its checks are registered here."""

from rocketdiff.analysis.role_analysis import RoleAnalysis
from rocketdiff.analysis.sending.case_pass import judge_case
from rocketdiff.analysis.sending.checks.codes import SENDING_CODES
from rocketdiff.analysis.sending.outages import outage_counts
from rocketdiff.analysis.sending.pictures.plots import plots_of
from rocketdiff.core.answers.where import Place

SENDING = RoleAnalysis(Place.SEND, judge_case, SENDING_CODES, outage_counts, plots_of)
