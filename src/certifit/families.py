"""The table of families: which folder holds what, what people call it, and who else has to know.

One row a family. The package reads here what ``certifit.<name>`` may load; model files, which classes one may hold;
the ONNX export, who converts what; the study and the command line, what a model is called; the documentation, its
pages. A new family is its folder, its page and a row of this table. Only names stand here: nothing is imported.
"""

from __future__ import annotations

from typing import NamedTuple


class Model(NamedTuple):
    """One estimator of a family.

    Attributes
    ----------
    name : str
        Of the class, as the folder exports it.
    words : str
        What a report calls it; of a step, the words that follow the name of the model after it.
    onnx : str
        ``module:function`` that converts it, ``module`` relative to ``certifit.files._onnx`` when it begins with an
        underscore; empty when it has no counterpart in ONNX.
    role : "predictor" or "step"
        Whether it ends a pipeline or prepares columns.

    Examples
    --------
    >>> Model("Ridge", "ridge", "_linear:regression").role
    'predictor'
    """

    name: str
    words: str
    onnx: str = ""
    role: str = "predictor"


class Family(NamedTuple):
    """A folder (or module) of public names.

    Attributes
    ----------
    folder : str
        ``certifit.<folder>``.
    models : tuple of Model
    pages : tuple of str
        Files in ``docs/families``; each says at its top in which group of the index it stands and what it is about.
    parts : tuple of str
        Records inside fitted models that the folder does not export, ``module.Class`` below the folder. A model file
        may hold them.
    stored : bool
        Whether a model file may hold every class that the folder exports.

    Examples
    --------
    >>> Family("toys", (Model("Toy", "toy"),)).folder
    'toys'
    """

    folder: str
    models: tuple[Model, ...] = ()
    pages: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    stored: bool = False


def _step(name: str, words: str, onnx: str = "") -> Model:
    return Model(name, words, onnx, "step")


FAMILIES: tuple[Family, ...] = (
    Family("losses", pages=("losses",), stored=True),
    Family("regularizers", stored=True),
    Family("certificates", parts=("_record.Certificate", "harmonic.Labels", "local.Neighbourhood", "region.Region")),
    Family("solvers", parts=("least_squares.Factor", "network.Walk", "pegasos.Walk")),
    Family(
        "linear_model",
        (
            Model("LinearRegression", "least squares", "_linear:regression"),
            Model("Ridge", "ridge", "_linear:regression"),
            Model("Lasso", "lasso", "_linear:regression"),
            Model("ElasticNet", "elastic net", "_linear:regression"),
            Model("MultiTaskLasso", "multi-task lasso", "_linear:regression"),
            Model("MultiTaskElasticNet", "multi-task elastic net", "_linear:regression"),
            Model("RidgeCV", "ridge chosen by cross-validation", "_linear:regression"),
            Model("LassoCV", "lasso chosen by cross-validation", "_linear:regression"),
            Model("ElasticNetCV", "elastic net chosen by cross-validation", "_linear:regression"),
            Model("MultiTaskLassoCV", "multi-task lasso chosen by cross-validation", "_linear:regression"),
            Model("MultiTaskElasticNetCV", "multi-task elastic net chosen by cross-validation", "_linear:regression"),
            Model("RidgeClassifier", "ridge classifier", "_linear:classification"),
            Model("RidgeClassifierCV", "ridge classifier chosen by cross-validation", "_linear:classification"),
            Model("LinearModel", "linear model", "_linear:any_loss"),
            Model("LogisticRegression", "logistic regression", "_linear:logistic"),
            Model("LogisticRegressionCV", "logistic regression chosen by cross-validation", "_linear:logistic"),
            Model("SGDClassifier", "linear classifier by stochastic gradient descent", "_linear:classification"),
            Model("SGDRegressor", "linear regression by stochastic gradient descent", "_linear:regression"),
            Model("Perceptron", "perceptron", "_linear:classification"),
            Model("AveragedPerceptron", "averaged perceptron", "_linear:classification"),
            Model("VotedPerceptron", "voted perceptron", "_linear:voted"),
            Model("RandomLinearClassifier", "random linear classifier", "_linear:classification"),
        ),
        ("least_squares", "lasso", "logistic", "perceptron"),
        ("_voted.Ballot",),
        stored=True,
    ),
    Family(
        "glm",
        (
            Model("GLM", "generalized linear model", "_linear:glm"),
            Model("PoissonRegressor", "Poisson regression", "_linear:glm"),
            Model("GammaRegressor", "gamma regression", "_linear:glm"),
            Model("TweedieRegressor", "Tweedie regression", "_linear:glm"),
        ),
        ("glm",),
        stored=True,
    ),
    Family("multiclass", (Model("OneVsRest", "one against the rest", "_convert:one_vs_rest"),), stored=True),
    Family("geometry", pages=("separability",)),
    Family("inference"),
    Family(
        "preprocessing",
        (
            _step("Standardizer", "on standardised columns", "_steps:standard"),
            _step("StandardScaler", "on standardised columns", "_steps:standard"),
            _step("PolynomialFeatures", "with squares and products", "_steps:polynomial"),
            _step("PolynomialBasis", "with squares and products", "_steps:polynomial"),
            _step("AdditiveBasis", "of additive features", "_steps:additive"),
            _step("NystroemBasis", "on Nyström features"),
            _step("PadOnes", "with a column of ones", "_steps:pad_ones"),
            _step("ColumnTransforms", "on functions of columns", "_steps:transforms"),
            _step("CorrelationFilter", "on columns chosen by correlation", "_steps:select"),
            _step("OneHot", "with one-hot encoding"),
            _step("Factored", "with factored encoding"),
            _step("Thermometer", "with thermometer encoding"),
        ),
        ("features",),
        stored=True,
    ),
    Family(
        "svm",
        (
            Model("SVC", "SVM", "_kernels:svc"),
            Model("SVR", "support vector regression", "_kernels:tube"),
            Model("NuSVC", "SVM by the share of support vectors", "_kernels:svc"),
            Model("NuSVR", "support vector regression by the share of support vectors", "_kernels:tube"),
            Model("OneClassSVM", "one-class SVM"),
            Model("LinearSVR", "linear support vector regression", "_linear:regression"),
            Model("LinearSVC", "linear SVM", "_linear:classification"),
            Model("HardMarginSVC", "hard-margin SVM", "_kernels:machine"),
            Model("PegasosSVC", "SVM by Pegasos", "_linear:classification"),
            Model("KernelPerceptron", "kernel perceptron", "_kernels:machine"),
        ),
        ("svm",),
        stored=True,
    ),
    Family("kernels", pages=("kernels",), stored=True),
    Family("kernel_ridge", (Model("KernelRidge", "kernel ridge", "_kernels:ridge"),), stored=True),
    Family("bounds"),
    Family(
        "tree",
        (
            Model("DecisionTreeClassifier", "decision tree", "_trees:classifier"),
            Model("DecisionTreeRegressor", "decision tree", "_trees:regressor"),
        ),
        ("trees",),
        ("_columns.Columns", "_structure.Tree"),
        stored=True,
    ),
    Family(
        "neighbors",
        (
            Model("KNeighborsClassifier", "nearest neighbours", "_neighbors:classifier"),
            Model("KNeighborsRegressor", "nearest neighbours", "_neighbors:regressor"),
            Model("NearestNeighbors", "nearest neighbours"),
            Model("RadiusNeighborsClassifier", "neighbours within a radius"),
            Model("RadiusNeighborsRegressor", "neighbours within a radius"),
            Model("NearestCentroid", "nearest centroid"),
            Model("EditedNeighbors", "edited nearest neighbours"),
            Model("CondensedNeighbors", "condensed nearest neighbours"),
        ),
        ("neighbors",),
        stored=True,
    ),
    Family(
        "bayes",
        (
            Model("BayesianLinearRegression", "Bayesian linear regression", "_linear:bayesian"),
            Model("BayesianRidge", "Bayesian ridge", "_linear:bayesian"),
        ),
        ("bayes",),
        stored=True,
    ),
    Family(
        "naive_bayes",
        (
            Model("GaussianNB", "naive Bayes", "_bayes:gaussian"),
            Model("BernoulliNB", "naive Bayes", "_bayes:bernoulli"),
            Model("MultinomialNB", "naive Bayes", "_bayes:multinomial"),
            Model("ComplementNB", "complement naive Bayes"),
            Model("CategoricalNB", "naive Bayes", "_bayes:categorical"),
            Model("MixedNB", "naive Bayes", "_bayes:mixed"),
        ),
        ("naive_bayes",),
        ("_statistics.ClassCounts", "_statistics.ClassMoments", "_statistics.MixedStatistics"),
        stored=True,
    ),
    Family(
        "semi_supervised",
        (
            Model("LabelPropagation", "label propagation"),
            Model("LabelSpreading", "label spreading"),
            Model("SelfTrainingClassifier", "self-training"),
        ),
        ("semi_supervised",),
        stored=True,
    ),
    Family(
        "neural",
        (Model("MLPClassifier", "neural network"), Model("MLPRegressor", "neural network")),
        ("neural",),
        stored=True,
    ),
    Family("decomposition", (_step("PCA", "on principal components", "_steps:components"),), ("pca",), stored=True),
    Family("cluster", (Model("KMeans", "k-means"),), ("clustering",), stored=True),
    Family(
        "density",
        (Model("KernelDensity", "kernel density"), Model("Histogram", "histogram")),
        ("density",),
        stored=True,
    ),
    Family("reinforcement", pages=("reinforcement",), stored=True),
    Family("resampling"),
    Family("metrics", pages=("evaluation",)),
    Family("model_selection", pages=("model_selection",)),
    Family("exceptions"),
    Family("datasets"),
    Family(
        "study",
        (
            Model("ConstantClassifier", "baseline", "_bayes:constant_shares"),
            Model("ConstantRegressor", "baseline", "_bayes:constant_value"),
            Model("LogRidge", "ridge on a log scale"),
            Model("BlackBoxClassifier", "trees in great number"),
            Model("BlackBoxRegressor", "trees in great number"),
            _step("TableEncoder", "on the features of a table", "_steps:columns_of_table"),
        ),
        ("study", "study_options"),
        (
            "_baseline.ConstantClassifier",
            "_baseline.ConstantRegressor",
            "_black_box.BlackBoxClassifier",
            "_black_box.BlackBoxRegressor",
            "_encoder.TableEncoder",
            "_log_ridge.LogRidge",
        ),
    ),
    Family("files", pages=("export",)),
    Family("plot", pages=("plot",)),
    Family("report"),
    Family("examples"),
    Family("exercises", pages=("exercises",)),
)


def model_of(module: str, name: str) -> Model | None:
    """The row of a class by ``cls.__module__`` and ``cls.__name__``; None for a class of somebody else.

    Examples
    --------
    >>> from certifit.linear_model import Ridge
    >>> model_of(Ridge.__module__, Ridge.__name__).words
    'ridge'
    """
    package, _, rest = module.partition(".")
    folder = rest.split(".")[0]
    rows = (m for f in FAMILIES if package == "certifit" and f.folder == folder for m in f.models)
    return next((m for m in rows if m.name == name), None)


def words_for(*steps: type) -> str:
    """What a report calls a model, or a pipeline of steps: the words of the table, or the name of the class.

    Parameters
    ----------
    *steps : type
        Classes, in the order of the pipeline; the last is the model.

    Examples
    --------
    >>> from certifit.decomposition import PCA
    >>> from certifit.linear_model import Lasso
    >>> words_for(Lasso), words_for(PCA, Lasso)
    ('lasso', 'lasso on principal components')
    """
    return words_of(*(f"{cls.__module__}:{cls.__name__}" for cls in steps))


def words_of(*paths: str) -> str:
    """The same for classes that need not be imported, by their modules and names.

    Examples
    --------
    >>> words_of("certifit.decomposition:PCA", "certifit.linear_model:Lasso")
    'lasso on principal components'
    """
    names = [path.split(":") for path in paths]
    rows = [model_of(module, name) or Model(name, name) for module, name in names]
    return " ".join(row.words for row in [rows[-1], *rows[:-1]])
