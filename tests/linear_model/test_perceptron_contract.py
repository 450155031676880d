from tests.contract import contract
from certifit.linear_model import *
from certifit.linear_model import AveragedPerceptron, Perceptron, RandomLinearClassifier, VotedPerceptron
@contract([Perceptron(), Perceptron(penalty="l2"), AveragedPerceptron(), VotedPerceptron(), RandomLinearClassifier()])
def test_contract(estimator, check):
    check(estimator)
