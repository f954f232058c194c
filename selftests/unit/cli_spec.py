#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Print the enums and attributes of a netlink specification as C tables."""
import sys

import yaml


def entry(name, value, word):
    """One line of a table."""
    return '\t{ "%s", %d, "%s" },' % (name, value, word)


def enums(spec):
    """All entries of all enums; bits have no words."""
    for enum in spec['definitions']:
        if enum['type'] != 'enum':
            continue
        for i, item in enumerate(enum.get('entries', [])):
            word = item['name'] if isinstance(item, dict) else item
            yield entry(enum['name'], enum.get('value-start', 0) + i, word)


def attributes(spec):
    """All attributes of all sets."""
    for group in spec['attribute-sets']:
        for i, attr in enumerate(group['attributes']):
            yield entry(group['name'], 1 + i, attr['name'])


def table(name, lines):
    """A table of lines."""
    print('static const struct spec_entry %s[] = {' % name)
    print('\n'.join(lines))
    print('};\n')


with open(sys.argv[1], encoding='utf-8') as file:
    SPEC = yaml.safe_load(file)
print('struct spec_entry {\n\tconst char *set;\n\tunsigned int value;')
print('\tconst char *word;\n};\n')
table('spec_enums', enums(SPEC))
table('spec_attributes', attributes(SPEC))
