"""Every key of every fixture file, and the test that reads it.

A key is a path: `case/name` of an array, or the keys that lead to a value in a JSON file. There
`*` stands for the items of a list, and a `/` inside a key is written `|`. In patterns `*` matches
within one part of the path, `{a,b}` is either of both, `/**` at the end is everything below, and
`<id>` is what pytest calls the parameters of the test.
"""

import gzip
import itertools
import json
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import numpy

# file: {test module::test: patterns}
READ_BY: dict[str, dict[str, list[str]]] = {
    "benepar_chart.json": {
        "test_structure::test_benepar_charts": [
            "vocab/**",
            "items/*/{tree,n,spans}",
            "items/*/{force,noforce}_{compressed,tree_from_scores,tree_from_chart}",
            "items/*/loss_{force,noforce}_*",
        ],
        "test_structure::test_benepar_infers_whether_the_root_is_a_constituent": [
            "infer_force_root_{all,first10}",
        ],
        "test_structure::test_benepar_margin_loss_of_a_padded_batch": [
            "batch/{idx,charts_equal_single}",
            "batch/loss/{none,mean,sum}",
        ],
    },
    "benepar_chart.npz": {
        "test_structure::test_benepar_charts": [
            "t*/{gold_chart,scores,force_chart,noforce_chart}",
        ],
    },
    "const_margin.json": {
        "test_structure::test_label_attention_parser_margin": [
            "labels",
            "items/*/{key,n,tree,heads}",
            "items/*/{pred_aug_score,pred_augment,gold_score,gold_augment,hinge}",
        ],
        "test_structure::test_label_attention_parser_gold_trees": [
            "items/*/types",
            "items/*/parse/**",
        ],
    },
    "const_margin.npz": {
        "test_structure::test_label_attention_parser_margin": [
            "t*/{label_scores,pi,pj,pl,gi,gj,gl}",
        ],
    },
    "decoders.json": {
        "test_decoders::test_joint_decoder": [
            "*/{key,n,n_labels,const_lada,score,sum_of_returned_tree,ties,brute_force_score}",
        ],
        "test_decoders::test_constituency_decoder": ["*/decoder"],
    },
    "decoders.npz": {
        "test_decoders::test_joint_decoder": ["h*/{label_scores,arc_scores,i,j,label,father}"],
        "test_decoders::test_constituency_decoder": ["c*/{label_scores,i,j,label}"],
    },
    "evalb.json": {
        "test_evalb::test_equals_the_compiled_program": [
            "pairs/*/{gold,test}",
            "runs/*/{returncode,totals_line,stderr,stdout_lines}",
            "runs/*/{n_sent_printed,has_summary,stderr_tail}",
            "runs/*/{sent,summary}/**",
        ],
    },
    "hpsg_convert.json": {
        "test_hpsg::test_trees": ["*/{tree,heads,types,n}", "*/parse/**"],
        "test_hpsg::test_groups_as_brackets": ["*/back_converted"],
        "test_hpsg::test_gold_spans": ["*/oracle_spans"],
    },
    "lal_batch_bug.json": {
        "test_label_attention::test_batch_of_sentences": [
            "*/{case,lens,d_l,d_positional,q_as_matrix,y_abs_mean,max_abs_diff_batch_vs_single}",
        ],
        "test_label_attention::test_released_batches_have_the_queries_of_other_heads": [
            "*/max_abs_err_of_permutation_formula",
        ],
    },
    "lal_batch_bug.npz": {
        "test_label_attention::test_batch_of_sentences": [
            "b*/{x,lens,y_single,y_batch_released}",
            "b*/{layer_norm.a_2,layer_norm.b_2,reduce_proj.weight}",
            "b*/{proj,w_ks,w_qs,w_vs}*",
        ],
        "test_label_attention::test_released_batches_have_the_queries_of_other_heads": [
            "b*/attn_batch_released",
        ],
    },
    "lal_big112.json": {
        "test_label_attention::test_published_size": [
            "{q_as_matrix,combine_as_self,d_model,d_k,d_v,d_l,d_proj,d_positional,len,seed}",
            "params/*",
        ],
    },
    "lal_big112.npz": {
        "test_label_attention::test_published_size[torch.float32]": ["f32_max_abs_err"],
        "test_label_attention::test_published_size": [
            "{attn,y_heads_*,y_stride,y_head_sum,y_head_sumsq,x_first,first8_*}",
        ],
    },
    "lal_parser.json": {
        "test_lal_parser::test_released_parameters_are_as_large_as_listed": [
            "variants/*/params/**",
            "variants/*/hparams/{annotation_dim,d_label_hidden,d_biaffine}",
        ],
        "test_lal_parser::test_rows": [
            "{trees,tag_vocab,word_vocab}",
            "variants/*/d_l",
            "variants/*/hparams/{partitioned,use_tags,use_words}",
        ],
        "test_lal_parser::test_gold_trees_have_the_released_groups": ["parse/**"],
        "test_lal_parser::test_parses": [
            "{label_vocab,type_vocab}",
            "variants/*/hparams/const_lada",
            "variants/*/sent/*/{score,tree,heads,types}",
        ],
        "test_lal_parser::test_a_released_batch": [
            "{heads,types}",
            "variants/*/{train_loss_batch4,batch4/scores,batch4/trees,batch4/heads}",
        ],
        "test_lal_parser::test_training_loss": ["variants/*/sent/*/train_loss_batch1"],
        "test_lal_parser::test_sentences": [
            "variants/*/hparams/{d_model,d_kv,d_ff,num_layers,num_heads}",
            "variants/*/hparams/{use_lal,lal_d_kv,lal_d_proj,lal_partitioned}",
            "variants/*/hparams/{lal_q_as_matrix,lal_combine_as_self,lal_pwff}",
        ],
    },
    "lal_parser.npz": {
        "test_lal_parser::test_rows": [
            "*/param/embedding.{embs.*.weight,layer_norm.*,position_table}",
            "*/s*/emb",
        ],
        "test_lal_parser::test_sentences": [
            "*/param/{encoder,f_label}.*",
            "*/s*/{annotations,attn,fencepost,chart}",
        ],
        "test_lal_parser::test_arcs_and_relations": ["*/param/dep_score.*", "*/s*/{arc,type}"],
        "test_contributions::test_contributions": ["*/s*/contrib"],
        "test_lal_parser::test_a_released_batch": ["*/batch4/annotations"],
        "test_lal_parser::test_gradients_of_the_training_loss": [
            "*/grad0/{embedding,encoder,f_label,dep_score}.*",
        ],
    },
    "lal_small.json": {
        "test_label_attention::test_small": [
            "*/{q_as_matrix,combine_as_self,d_model,d_k,d_v,d_l,d_proj,d_positional,len}",
            "*/{y_shape,attn_shape}",
            "*/params/*",
        ],
    },
    "lal_small.npz": {
        "test_label_attention::test_small": [
            "c*/{x,y,attn}",
            "c*/{layer_norm.a_2,layer_norm.b_2,reduce_proj.weight}",
            "c*/{proj,w_ks,w_qs,w_vs}*",
        ],
    },
    "lisa.json": {
        "test_lisa::test_settings": [
            "cfg/{pos_layer,parse_layer,attn_layer,srl_layer,lens,trans}",
            "cfg/{emb,heads,hd,ff,layers,nsrl,ndep,ppmlp,pmlp,rmlp,cls,arc}",
            "variables/**",
        ],
        "test_lisa::test_tags_and_predicates": ["cfg/{nj,npos,map_pos,map_pred}"],
        "test_lisa::test_total_loss": [
            "<id>/total_loss",
            "<id>/{joint,parse_head,parse_label,srl}|loss",
        ],
        "test_lisa_sequence::test_viterbi": ["viterbi/*/{tags,score,greedy}"],
        "test_lisa_sequence::test_bio_to_columns": ["bio_to_props"],
    },
    "lisa.npz": {
        "test_lisa::test_settings": ["in/tokens_to_keep", "var/transitions", "var/LISA/**"],
        "test_lisa::test_layers": [
            "in/embedded",
            "<id>/{projected,with_timing,layer*}",
        ],
        "test_lisa::test_tags_and_predicates": [
            "in/joint",
            "<id>/joint/{loss,predictions,scores,probabilities}",
            "<id>/joint/{gold_pos,predicate}_{probabilities,predictions}",
        ],
        "test_lisa::test_arcs_and_relations": [
            "in/{parse_head,parse_label}",
            "<id>/parse_head/{loss,predictions,probabilities,scores}",
            "<id>/parse_head/{dep,head}_rel_mlp",
            "<id>/parse_label/{loss,predictions,probabilities,scores}",
        ],
        "test_lisa::test_roles": [
            "in/{predicate,srl}",
            "<id>/srl/{loss,predictions,probabilities,scores,targets}",
        ],
        "test_lisa::test_total_loss": ["<id>/total_loss"],
        "test_lisa_sequence::test_viterbi": ["vit*/{scores,trans}"],
    },
    "lisa_lr.json": {"test_learning_rate::test_recorded_rates": ["*/{step0,lr}"]},
    "mhmla.json": {
        "test_layer_attention::test_keys_values_and_scores": [
            "cases/*/{key,L,n,d,J,dv,loss_mean_ce}",
        ],
        "test_detection::test_recorded_scores": ["f05/*/{gold,pred,tp,n_pred,n_gold,P,R,F05}"],
    },
    "mhmla.npz": {
        "test_layer_attention::test_attention_logits_and_gradients": [
            "m*/{h,alpha,logits,probs,y,grad_h}",
            "m*/{param,grad}/{Wv,bv,Wk,bk,wa,ba,Wo,bo}",
        ],
        "test_layer_attention::test_keys_values_and_scores": ["m*/{v,k,a,head,c}"],
        "test_layer_attention::test_average_of_layers": ["m*/avgl_logits"],
    },
    "spanformer.json": {
        "test_spanformer::test_span_vectors_and_attention": ["*/{key,lens,big,d,heads}"],
    },
    "spanformer.npz": {
        "test_spanformer::test_span_vectors_and_attention": [
            "s*/{left,right,Wbiaffine,Wproj,bproj,Wq,Wk,Wv,span_small,mask,out_raw}",
        ],
        "test_spanformer::test_span_vectors_and_attention[head-out_LN_per_head]": [
            "s*/out_LN_per_head",
        ],
        "test_spanformer::test_span_vectors_and_attention[concatenation-out_LN_after_concat]": [
            "s*/out_LN_after_concat",
        ],
    },
    "srl_eval.json": {
        "test_srl_eval::test_every_sentence": [
            "sentences/*/{gold,pred}",
            "sentences/*/result/{sentences,propositions,perfect_props_pct}",
            "sentences/*/result/table/**",
        ],
        "test_srl_eval::test_docs_with_gold_predicates": ["sentences/*/n"],
        "test_srl_eval::test_all_sentences_as_printed": [
            "overall/{sentences,propositions,perfect_props_pct}",
            "overall/table/**",
            "confusion_stdout",
        ],
    },
    "supar_crf.json": {
        "test_structure::test_supar_crf_of_one_sentence": [
            "single/*/{key,n,logZ,max,argmax,log_prob,map_tree,mbr_tree}",
            "single/*/labeled_{logZ,max,argmax}",
        ],
        "test_structure::test_supar_crf_of_a_padded_batch": [
            "batch/*/{key,lens,span_loss,logZ,mbr,map}",
        ],
        "test_supar_scorer::test_losses[single]": ["single/*/loss"],
        "test_supar_scorer::test_losses[batch]": ["batch/*/loss"],
        "test_supar_scorer::test_scores_of_spans_and_labels": [
            "scorer/*/{key,hidden,span_mlp,label_mlp,n_labels,L}",
            "scorer/*/params/*",
        ],
    },
    "supar_crf.npz": {
        "test_structure::test_supar_crf_of_one_sentence": ["s*/{s_span,s_label,chart,marginals}"],
        "test_structure::test_supar_crf_of_a_padded_batch": [
            "b*/{s_span,s_label,chart,marginals}",
        ],
        "test_supar_scorer::test_scores_of_spans_and_labels": [
            "m*/{x,s_span,s_label}",
            "m*/{span,label}_{attn,mlp_l.linear,mlp_r.linear}.*",
        ],
    },
    "supar_trees.json": {
        "test_structure::test_supar_trees": [
            "*/{tree,factorize_raw}",
            "*/implicit/{binarized,factorized_of_child0,rebuilt}",
        ],
        "test_structure::test_supar_brackets_for_evaluation": ["*/factorize_eval"],
    },
}

SEED = "the seed from which the file's numbers were drawn"
# file: {pattern: why no test compares it}
NOT_COMPARED: dict[str, dict[str, str]] = {
    "decoders.json": {"*/seed": SEED},
    "evalb.json": {
        "pairs/*/ops": "how the second tree was made from the first",
        "supar_spanmetric_on_evalb_pairs/**": "supar's own metric: the package scores as EVALB",
    },
    "hpsg_convert.json": {"*/oracle_first_split/**": "of a binarisation that nothing uses"},
    "lal_batch_bug.json": {"*/seed": SEED},
    "lal_big112.json": {"use_resdrop": "dropout, of which nothing was recorded"},
    "lal_parser.json": {
        "variants/*/hparams/*_dropout": "dropout, of which nothing was recorded",
        "variants/*/hparams/{clip_grad_norm,learning_rate*,step_decay*}": "settings of training",
        "variants/*/hparams/{max_len_*,sentence_max_len}": "settings of training",
        "variants/*/hparams/{dataset,model_name}": "names",
        "variants/*/hparams/{bert_*,roberta_*,xlnet_*,embedding_path,embedding_type}": (
            "settings of pretrained embeddings, which were not used"
        ),
        "variants/*/hparams/use_{bert,bert_only,cat,chars_lstm,elmo,roberta,xlnet}": (
            "kinds of embeddings, which were not used"
        ),
        "variants/*/hparams/{d_char_emb,pad_left}": "settings of embeddings that were not used",
        "variants/*/hparams/punctuation": "of the evaluation, of which nothing was recorded",
        "variants/*/hparams/lal_resdrop": "dropout, of which nothing was recorded",
    },
    "lal_small.json": {
        "*/seed": SEED,
        "*/use_resdrop": "dropout, of which nothing was recorded",
    },
    "lisa.json": {"srl_labels_illustrative": "names for the numbers of labels; none are used"},
    "supar_crf.json": {"single/*/entropy": "which nothing uses"},
    "supar_trees.json": {"*/{left,right}/**": "of binarisations that nothing uses"},
    "spanformer.json": {"*/note": "says that the numbers are a reading of the paper"},
    "srl_eval.json": {
        "sentences/*/notes": "how the prediction was made from the gold",
        "{sentences/*/result,overall}/rc": "the exit status of the program, always 0",
        "{sentences/*/result,overall}/warnings": (
            "messages about predicates without a partner; counts say it here"
        ),
    },
}

# Keys that not every set of fixtures has.
OPTIONAL: set[tuple[str, str]] = {("evalb.json", "supar_spanmetric_on_evalb_pairs/**")}


def expanded(pattern: str) -> Iterator[str]:
    """`a/{b,c}` as `a/b` and `a/c`."""
    parts = re.split(r"\{(.*?)\}", pattern)  # every other part was inside braces
    choices = [part.split(",") if k % 2 else [part] for k, part in enumerate(parts)]
    return map("".join, itertools.product(*choices))


def matches(key: str, pattern: str) -> bool:
    parts, of_pattern = key.split("/"), pattern.split("/")
    if of_pattern[-1] == "**":
        of_pattern.pop()
        parts = parts[: len(of_pattern)]
    return len(parts) == len(of_pattern) and all(map(fnmatchcase, parts, of_pattern))


KEYS_OF: dict[str, list[tuple[str, str]]] = {}
for file, tests in READ_BY.items():
    for test, patterns in tests.items():
        KEYS_OF.setdefault(test, []).extend(
            (file, one) for pattern in patterns for one in expanded(pattern)
        )


def listed(file: str) -> list[str]:
    """All patterns of a file."""
    patterns = itertools.chain(*READ_BY.get(file, {}).values(), NOT_COMPARED.get(file, ()))
    return [one.replace("<id>", "*") for pattern in patterns for one in expanded(pattern)]


def is_read(file: str, pattern: str, keys: Iterable[str], read: set[str]) -> bool:
    """Whether a key that the pattern is about was read, if there is any in the file."""
    there = [key for key in keys if matches(key, pattern)]
    return not there or any(
        matches(key, pattern) for name, _, key in (r.partition(":") for r in read) if name == file
    )


class Recorded(dict):
    """A dict that notes in the last of some sets which of its values are read."""

    def __init__(self, path: str, read: list[set[str]]) -> None:
        super().__init__()
        self.path, self.read = path, read

    def __getitem__(self, key: str) -> Any:
        self.read[-1].add(self.path + key.replace("/", "|" if ".json:" in self.path else "/"))
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self else default  # noqa: SIM401

    def values(self) -> Any:
        return [self[key] for key in self]

    def items(self) -> Any:
        return [(key, self[key]) for key in self]


def recorded(value: Any, path: str, read: list[set[str]]) -> Any:
    """A JSON value whose dicts note what is read of them."""
    if isinstance(value, list):
        return [recorded(item, f"{path}*/", read) for item in value]
    if not isinstance(value, dict):
        return value
    found = Recorded(path, read)
    for key, item in value.items():
        found[key] = recorded(item, f"{path}{key.replace('/', '|')}/", read)
    return found


@cache
def read_json(folder: Path, name: str) -> Any:
    path = folder / f"{name}.json"
    if path.exists():
        return json.loads(path.read_text(encoding="utf8"))
    with gzip.open(f"{path}.gz", "rt", encoding="utf8") as file:
        return json.load(file)


@cache
def keys_of_file(folder: Path, file: str) -> frozenset[str]:
    if file.endswith(".npz"):
        with numpy.load(folder / file) as arrays:
            return frozenset(arrays.files)
    return frozenset(_keys(read_json(folder, file.removesuffix(".json")), ()))


def _keys(value: Any, path: tuple[str, ...]) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _keys(item, (*path, key.replace("/", "|")))
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for item in value:
            yield from _keys(item, (*path, "*"))
    else:
        yield "/".join(path)
